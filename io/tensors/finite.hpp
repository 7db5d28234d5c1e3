// Refuses weights that are not finite numbers.
#pragma once

#include <cstdint>
#include <string>

#include "io/tensors/convert.hpp"

namespace spillway {

// Throws Error(damaged) that begins with `place` and names the tensor if `counts` says that a value
// is infinite or NaN.
void require_finite(std::string const& place, std::string const& tensor, std::int64_t elements,
                    ValueCounts const& counts);

}  // namespace spillway
