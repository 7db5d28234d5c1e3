// A micro-batch where nobody has asked for one.
#pragma once

#include <cstdint>

#include "config/config.hpp"
#include "run/target.hpp"

namespace spillway {

// Returns the size with the shortest estimated step. Starts at that of the target's choices and
// halves or doubles it, up to a rank's share of the batch, until everything fits where the user
// wants it. Another size must gain 5 %, since the Machine may know only the ops of the first.
// Throws, as plan_run does, for what is not offered.
std::int64_t fastest_micro(Config const& config, std::int64_t vocab, Target const& target);

}  // namespace spillway
