// The learning rate as a pure function of the step.
#pragma once

#include <cstdint>

#include "config/config.hpp"

namespace spillway {

// Rate of step `step` (0-based) in a run of `steps`: linear warm-up over `optim.warmup` steps from
// lr / warmup, then cosine, linear or constant down to `min_lr` at the last step.
double learning_rate(OptimConfig const& optim, std::int64_t steps, std::int64_t step);

}  // namespace spillway
