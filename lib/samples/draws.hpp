// Random draws of objectives: counter-based, so that a sample's are the same on any rank, after any
// restart and however often it is asked for.
#pragma once

#include <cstdint>

#include "base/philox.hpp"

namespace spillway {

// Four words for place `place` < 2^32 of a sample. The counter's upper half keeps them apart from
// all else that is drawn with the run's seed.
inline PhiloxBlock draw(std::uint64_t seed, std::int64_t sample, std::int64_t place) {
  constexpr std::uint64_t objective = 0x6f626a65;
  return philox(seed, static_cast<std::uint64_t>(sample),
                objective << 32 | static_cast<std::uint64_t>(place));
}

// Evenly in [0, n), n < 2^31.
inline std::int32_t below(std::int64_t n, std::uint32_t word) {
  return static_cast<std::int32_t>(static_cast<std::uint64_t>(n) * word >> 32);
}

struct Chance {
  std::uint64_t percent;
  bool happens(std::uint32_t word) const { return 100 * std::uint64_t{word} < percent << 32; }
};

}  // namespace spillway
