#pragma once

#include <cstdint>

namespace spillway {

// Names elements [first, last) of a tensor, in row-major order.
struct TensorRange {
  std::int64_t first = 0, last = 0;

  bool operator==(TensorRange const&) const = default;
};

}  // namespace spillway
