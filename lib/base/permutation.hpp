// A pseudo-random order of [0, n) in O(1) memory: a Feistel network over Philox on the smallest
// domain 4^k >= n, applied again while it leads outside [0, n) (cycle walking; Black and Rogaway,
// "Ciphers with Arbitrary Finite Domains", CT-RSA 2002). Any element can be asked for at any time.
#pragma once

#include <cstdint>

namespace spillway {

class Permutation {
 public:
  // size >= 1. Equal (size, seed, epoch) give the same order everywhere.
  Permutation(std::int64_t size, std::uint64_t seed, std::uint64_t epoch);

  // index in [0, size) -> its image; a bijection. On average fewer than four passes of the network.
  std::int64_t operator()(std::int64_t index) const;

 private:
  std::uint64_t encrypt(std::uint64_t x) const;

  std::uint64_t m_size, m_seed, m_epoch;
  int m_half_bits;  // the domain is 2^(2 * m_half_bits)
};

}  // namespace spillway
