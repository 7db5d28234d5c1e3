// Philox 4x32-10 is a counter-based random number generator (Salmon et al., SC'11). It has no
// state, so the same key and counter give the same bits on any rank, thread or device, and after
// any restart.
#pragma once

#include <array>
#include <cstdint>

#include "base/function.hpp"

namespace spillway {

struct PhiloxBlock {
  std::uint32_t x[4];
};

SPILLWAY_FUNCTION PhiloxBlock philox(std::uint64_t key, std::uint64_t high, std::uint64_t low) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  std::uint32_t c[4] = {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                        static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
    std::uint32_t const n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0;
    std::uint32_t const n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1;
    c[0] = n0;
    c[1] = static_cast<std::uint32_t>(p1);
    c[2] = n2;
    c[3] = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

// Turns random bits into a uniformly distributed number in [0, 1). Only the upper 24 bits count.
SPILLWAY_FUNCTION float uniform01(std::uint32_t bits) {
  return static_cast<float>(bits >> 8) * (1.0f / 16777216.0f);
}

}  // namespace spillway
