// Weights must be numbers.
#pragma once

#include <cstdint>
#include <string>

#include "io/tensors/convert.hpp"

namespace spillway {

// Throws Error(damaged) that begins with `place` and names the tensor, if a value of it is infinite
// or no number.
void require_finite(std::string const& place, std::string const& tensor, std::int64_t elements,
                    ValueCounts const& counts);

}  // namespace spillway
