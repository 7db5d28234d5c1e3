// When parameters that are not at home on the device are there. A station is one block's forward
// ops, or one block's backward ops with what they repeat; a micro-batch passes all in order.
#pragma once

#include <algorithm>

namespace spillway {

// What is used again so soon is not dropped in between.
constexpr bool stays(int used, int used_next, int prefetch) {
  return used_next - used <= prefetch + 1;
}
// The station before which it is fetched; `used`: the use before this one, -1 for none.
constexpr int fetched_at(int used, int used_next, int prefetch) {
  return std::max(used + 1, used_next - prefetch);
}

}  // namespace spillway
