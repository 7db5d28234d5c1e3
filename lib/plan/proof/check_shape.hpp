// Checks the numbers, ranges and counts of a Program, which must be right before its items can be
// walked.
#pragma once

#include <optional>

#include "plan/data/program.hpp"
#include "plan/proof/verify.hpp"

namespace spillway {

// Returns a Violation for the first mistake, in which no earlier item is named.
std::optional<Violation> check_shape(Program const& program);

}  // namespace spillway
