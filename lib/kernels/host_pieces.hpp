// By these functions serial kernels let a pool share their loops.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/math.hpp"
#include "kernels/exec.hpp"
#include "kernels/host_pool.hpp"

namespace spillway {

inline constexpr std::int64_t kPieceElements = std::int64_t{32} << 10;  // some 100 us of memory

// Calls work(first, last) for ranges that cover [0, n). They begin at multiples of `piece` and are
// shared by the threads of the Exec's pool; without one it is a single range. How they are cut must
// not matter.
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
