// Chooses how many rows MLPs take at a time if the user has not.
#pragma once

#include <cstdint>

#include "config/config.hpp"
#include "run/target.hpp"

namespace spillway {

// Returns kMlpRows if nothing else fits, or if steps then take 5 % less: what lies between the
// products of an MLP is made again, and the memory that this saves may spare the plan more. Returns
// 0, all rows, otherwise. The Choices must leave it free. Throws Error(bad_input) for requests that
// plan_run does not support.
std::int64_t faster_mlp_chunk(Config const& config, std::int64_t vocab, Target const& target);

}  // namespace spillway
