// Random bits decide how an update rounds moments that are stored in bf16. The bits for an element
// follow from (seed, number of the update, chunk, element of the chunk), so they do not depend on
// where the update runs or in which slices.
#pragma once

#include <cstdint>

#include "base/philox.hpp"

namespace spillway {

// Bits are drawn for 256 successive elements of a chunk (a tile) at a time. The b-th Philox block
// of a tile is for the tile's elements b, b + 64, b + 128 and b + 192, so that neighbouring SIMD
// lanes draw for neighbouring elements.
struct MomentDraws {
  static constexpr std::int64_t kLanes = 64, kTile = 4 * kLanes;

  std::uint64_t key, high;

  SPILLWAY_FUNCTION MomentDraws(std::uint64_t seed, int chunk, std::uint64_t update)
      // The constant makes draws for moments differ from all others that use the run's seed.
      : key(seed ^ 0x6d6f6d656e7473),
        high(static_cast<std::uint64_t>(chunk) << 32 | (update & 0xffffffff)) {}

  // Returns 32 bits for one element: the lower 16 are for its moment m, the upper 16 for v.
  SPILLWAY_FUNCTION std::uint32_t of(std::int64_t element) const {
    auto const tile = element / kTile, place = element % kTile;
    auto const block = static_cast<std::uint64_t>(tile * kLanes + place % kLanes);
    return philox(key, high, block).x[place / kLanes];
  }

  // Sets words[i] = of(kTile * tile + i) for each i in [0, kTile).
  SPILLWAY_FUNCTION void fill(std::int64_t tile, std::uint32_t* words) const {
    auto const o = *this;
    auto const first = static_cast<std::uint64_t>(tile * kLanes);
#pragma omp simd
    for (std::int64_t b = 0; b < kLanes; ++b)
      o.draw(first + static_cast<std::uint64_t>(b), words + b);
  }

 private:
  // `draw` is a function of its own because, if a struct is declared within a simd loop, GCC keeps
  // it in memory instead of registers.
  SPILLWAY_FUNCTION void draw(std::uint64_t block, std::uint32_t* words) const {
    auto const drawn = philox(key, high, block);
    words[0] = drawn.x[0];
    words[kLanes] = drawn.x[1];
    words[2 * kLanes] = drawn.x[2];
    words[3 * kLanes] = drawn.x[3];
  }
};

}  // namespace spillway
