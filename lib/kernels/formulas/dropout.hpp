// Which elements dropout keeps, by counter: no state, and the mask is drawn anew in backward.
#pragma once

#include <cstdint>

#include "base/philox.hpp"

namespace spillway {

inline constexpr int kDropoutDraws = 4;  // elements per Philox block

// The numbers for elements 4 `block` .. 4 `block` + 3 of a sample. The counter's 128 bits are, from
// the top, 32 of the forward op's number, 64 of the sample's, 32 of the block's.
SPILLWAY_FUNCTION PhiloxBlock dropout_draws(std::uint64_t seed, std::uint64_t origin,
                                            std::uint64_t sample, std::uint64_t block) {
  return philox(seed, (origin << 32) | (sample >> 32), (sample << 32) | (block & 0xffffffffull));
}

// What an element is multiplied by.
SPILLWAY_FUNCTION float dropout_factor(std::uint32_t draw, float p, float scale) {
  return uniform01(draw) >= p ? scale : 0.0f;
}

}  // namespace spillway
