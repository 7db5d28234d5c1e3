// Checks what must hold before a Program can be walked at all: numbers, ranges and counts.
#pragma once

#include <optional>

#include "plan/data/program.hpp"
#include "plan/proof/verify.hpp"

namespace spillway {

// Returns the first thing that is wrong, as a Violation without an earlier item.
std::optional<Violation> check_shape(Program const& program);

}  // namespace spillway
