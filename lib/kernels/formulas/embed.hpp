// Says which row of an embedding table is added to each row of the op's output.
#pragma once

#include <cstdint>

#include "base/function.hpp"

namespace spillway {

// The function call returns numbers[row] or, if `numbers` is null, row mod `period`.
struct TableIndex {
  std::int32_t const* numbers;
  std::int64_t period;

  SPILLWAY_FUNCTION std::int64_t operator()(std::int64_t row) const {
    return numbers ? numbers[row] : row % period;
  }
};

}  // namespace spillway
