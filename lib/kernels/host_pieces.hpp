// Lets the threads of a pool share the loops of serial kernels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/math.hpp"
#include "kernels/exec.hpp"
#include "kernels/host_pool.hpp"

namespace spillway {

// A serial kernel takes about 100 us for this many elements.
inline constexpr std::int64_t kPieceElements = std::int64_t{32} << 10;

// Calls work(first, last) for disjoint ranges that together cover [0, n). The ranges begin at
// multiples of `piece`, and the threads of the Exec's pool share them; without a pool there is one
// range. The result must not depend on how [0, n) is cut into ranges.
template <class Work>
void for_each_piece(Exec const& exec, std::int64_t n, std::int64_t piece, Work const& work) {
  auto* const pool = exec.host_pool();
  if (pool == nullptr) return work(0, n);
  pool->run(div_ceil(n, piece), [&](std::int64_t i) {
    auto const first = i * piece;
    work(first, std::min(n, first + piece));
  });
}

}  // namespace spillway
