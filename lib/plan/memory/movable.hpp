// A Movable is a buffer for which a layout seeks an offset.
#pragma once

#include "plan/memory/lifetime.hpp"

namespace spillway {

// All stays of the buffer have the same offset.
struct Movable {
  BufferId buffer;
  Lifetime const* stays;
  std::int64_t bytes, alignment, area, offset;
  bool reserved;
  std::size_t chain = 0;

  // Says whether the end of the buffer is away for a while, which its first two stays tell of.
  bool is_parted() const { return stays->front().first_byte > 0; }
};

}  // namespace spillway
