// Says which row of a table each row of an embedding takes.
#pragma once

#include <cstdint>

#include "base/function.hpp"

namespace spillway {

// Returns numbers[row] or, if `numbers` is null, row mod `period`.
struct TableIndex {
  std::int32_t const* numbers;
  std::int64_t period;

  SPILLWAY_FUNCTION std::int64_t operator()(std::int64_t row) const {
    return numbers ? numbers[row] : row % period;
  }
};

}  // namespace spillway
