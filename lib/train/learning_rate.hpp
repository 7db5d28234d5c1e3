// The learning rate is a pure function of the step.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"

namespace spillway {

// Returns the rate of step `step` (from 0) in a run of `steps` steps. It rises linearly over
// `optim.warmup` steps, beginning with lr / warmup. Then it stays constant, or falls along a cosine
// or a line to `min_lr` at the last step.
double learning_rate(OptimConfig const& optim, std::int64_t steps, std::int64_t step);

// Returns a sentence on the rates of step `step` (from 0) as the two configurations of a run have
// it, or "" if they are the same.
std::string changed_rate(Config const& before, Config const& now, std::int64_t step);

}  // namespace spillway
