// A Stamp says when an access happened and who made it, for the search for races.
#pragma once

#include <array>
#include <cstdint>

namespace spillway::test::ptx {

// Epochs are counted over a whole launch: a block begins one, and so do those warps that pass a
// barrier together. The time of a lane is the number of its synchronisations within the warp in
// this epoch.
// A Stamp is one word, because many are written and read. Epoch 0 means that there was no access.
struct Stamp {
  std::uint64_t epoch : 32 = 0;
  std::uint64_t lane : 5 = 0, warp : 5 = 0, is_strong : 1 = 0, time : 21 = 0;
};
static_assert(sizeof(Stamp) == 8);
inline constexpr std::uint32_t kMostTime = (1u << 21) - 1;

// A lane has seen all that the other lanes of its warp did before these times of theirs.
using Seen = std::array<std::uint32_t, 32>;
// For a warp, all is past that the warps of its block did before these epochs.
using Past = std::array<std::uint32_t, 32>;

}  // namespace spillway::test::ptx
