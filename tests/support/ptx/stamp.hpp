// Says when an access happened, for the search for races.
#pragma once

#include <array>
#include <cstdint>

namespace spillway::test::ptx {

// Epochs are counted over a whole launch: a block begins one, and so do those warps that pass a
// barrier together. The time of a lane is the number of its synchronisations within the warp in
// this epoch.
struct Stamp {                   // of one word, since many are written and read
  std::uint64_t epoch : 32 = 0;  // 0: never
  std::uint64_t lane : 5 = 0, warp : 5 = 0, is_strong : 1 = 0, time : 21 = 0;
};
static_assert(sizeof(Stamp) == 8);
inline constexpr std::uint32_t kMostTime = (1u << 21) - 1;

// Which times of the other lanes of its warp a lane knows to have passed.
using Seen = std::array<std::uint32_t, 32>;
// For each warp of its block: what it did in earlier epochs than this one is over.
using Past = std::array<std::uint32_t, 32>;

}  // namespace spillway::test::ptx
