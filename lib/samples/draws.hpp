// Makes the random draws of objectives. They are counter-based, so a sample has the same draws on
// any rank, after any restart and however often they are made.
#pragma once

#include <cstdint>

#include "base/philox.hpp"

namespace spillway {

// Returns four random words for place `place` < 2^32 of a sample. The constant in the counter keeps
// them apart from other draws that use the seed of the run.
inline PhiloxBlock draw(std::uint64_t seed, std::int64_t sample, std::int64_t place) {
  constexpr std::uint64_t objective = 0x6f626a65;
  return philox(seed, static_cast<std::uint64_t>(sample),
                objective << 32 | static_cast<std::uint64_t>(place));
}

// Returns a number in [0, n), evenly distributed, for n < 2^31.
inline std::int32_t below(std::int64_t n, std::uint32_t word) {
  return static_cast<std::int32_t>(static_cast<std::uint64_t>(n) * word >> 32);
}

struct Chance {
  std::uint64_t percent;
  bool happens(std::uint32_t word) const { return 100 * std::uint64_t{word} < percent << 32; }
};

}  // namespace spillway
