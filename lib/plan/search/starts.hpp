// Where a search begins decides in part what it finds.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/data/open_plan.hpp"

namespace spillway {

// Returns the open plan with one thing decided, in each of the ways from which searches were seen
// to find what they had missed: two or four micro-batches walk together, tensors are brought two
// stations ahead, or gradients are summed up on the device. It has no ways that are not open.
std::vector<OpenPlan> other_starts(OpenPlan const& open, std::int64_t micro_batches);

}  // namespace spillway
