// Dropout decides by counter-based random numbers which elements it keeps. It has no state: the
// backward pass draws the numbers of the forward pass again.
#pragma once

#include <cstdint>

#include "base/philox.hpp"

namespace spillway {

inline constexpr int kDropoutDraws = 4;  // random numbers of a Philox block, one per element

// Returns the random numbers for elements 4 * block to 4 * block + 3 of a sample. Philox's 128-bit
// counter consists, from the top, of the forward op's number `origin` (32 bits), `sample` (64 bits)
// and `block` (32 bits).
SPILLWAY_FUNCTION PhiloxBlock dropout_draws(std::uint64_t seed, std::uint64_t origin,
                                            std::uint64_t sample, std::uint64_t block) {
  return philox(seed, (origin << 32) | (sample >> 32), (sample << 32) | (block & 0xffffffffull));
}

// Returns the Philox key for attention's weights of one head and sample. It is made from seed, op,
// sample and head, because Philox's counter has room only for the numbers of query and key.
SPILLWAY_FUNCTION std::uint64_t attention_head_key(std::uint64_t seed, std::uint64_t origin,
                                                   std::int64_t head, std::int64_t sample) {
  auto const drawn = philox(seed, (origin << 32) | static_cast<std::uint64_t>(head),
                            static_cast<std::uint64_t>(sample));
  return (std::uint64_t{drawn.x[1]} << 32) | drawn.x[0];
}

// Returns the number by which an element is multiplied: 0 drops it, `scale` keeps it.
SPILLWAY_FUNCTION float dropout_factor(std::uint32_t draw, float p, float scale) {
  return uniform01(draw) >= p ? scale : 0.0f;
}

}  // namespace spillway
