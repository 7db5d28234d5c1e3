// Chooses the size of micro-batches if the user has not.
#pragma once

#include <cstdint>

#include "config/config.hpp"
#include "run/target.hpp"

namespace spillway {

// Returns the size with the shortest simulated step of the plan that is best by estimates. Starts
// at the size in target.choices, and halves or doubles it, as far as every rank has one, to the
// size below that leaves the fewest rows empty, until everything fits where the user wants it or,
// on a device, until that is no faster. Another size
// than the first one must be 1 % faster, or 5 % where times of ops were measured, since these may
// be known of the first one only. Throws Error(bad_input) for requests that plan_run does not
// support.
std::int64_t fastest_micro(Config const& config, std::int64_t vocab, Target const& target);

}  // namespace spillway
