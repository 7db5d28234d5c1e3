// Which row of a table each row of an embedding takes.
#pragma once

#include <cstdint>

#include "base/function.hpp"

namespace spillway {

// That of `numbers`, or without them the row's own number mod `period`.
struct TableIndex {
  std::int32_t const* numbers;
  std::int64_t period;

  SPILLWAY_FUNCTION std::int64_t operator()(std::int64_t row) const {
    return numbers ? numbers[row] : row % period;
  }
};

}  // namespace spillway
