// Checks numbers, ranges and counts, which must be right before a Program can be walked.
#pragma once

#include <optional>

#include "plan/data/program.hpp"
#include "plan/proof/verify.hpp"

namespace spillway {

// Returns a Violation for the first mistake, in which no earlier item is named.
std::optional<Violation> check_shape(Program const& program);

}  // namespace spillway
