// These random bits decide how an update rounds moments that are stored in bf16. They follow from
// (seed, number of the update, chunk, element of the chunk), so they are the same wherever the
// update runs and in whatever slices.
#pragma once

#include <cstdint>

#include "base/philox.hpp"

namespace spillway {

// The bits for a chunk's elements are drawn in tiles of 256 elements. Block b of a tile has the
// words of its elements b, b + 64, b + 128 and b + 192, so neighbouring lanes of a vector draw for
// neighbouring elements.
struct MomentDraws {
  static constexpr std::int64_t kLanes = 64, kTile = 4 * kLanes;

  std::uint64_t key, high;

  SPILLWAY_FUNCTION MomentDraws(std::uint64_t seed, int chunk, std::uint64_t update)
      // The constant separates these draws from all others that use the run's seed.
      : key(seed ^ 0x6d6f6d656e7473),
        high(static_cast<std::uint64_t>(chunk) << 32 | (update & 0xffffffff)) {}

  // Returns the bits of one element: the lower half is for m, the upper half for v.
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
  // This is a separate function because GCC keeps a struct declared in a simd loop in memory.
  SPILLWAY_FUNCTION void draw(std::uint64_t block, std::uint32_t* words) const {
    auto const drawn = philox(key, high, block);
    words[0] = drawn.x[0];
    words[kLanes] = drawn.x[1];
    words[2 * kLanes] = drawn.x[2];
    words[3 * kLanes] = drawn.x[3];
  }
};

}  // namespace spillway
