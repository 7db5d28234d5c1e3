// A Permutation is a pseudo-random order of [0, n) that needs O(1) memory and gives any element at
// any time. It is a Feistel network over Philox on the smallest domain 4^k >= n, applied again
// while its result is outside [0, n) (cycle walking; Black and Rogaway, "Ciphers with Arbitrary
// Finite Domains", CT-RSA 2002).
#pragma once

#include <cstdint>

namespace spillway {

class Permutation {
 public:
  // `size` is at least 1. Equal (size, seed, epoch) give the same order everywhere.
  Permutation(std::int64_t size, std::uint64_t seed, std::uint64_t epoch);

  // Maps an index in [0, size) to its image; the map is a bijection. Throws std::logic_error for
  // other indices. On average the network runs fewer than four times.
  std::int64_t operator()(std::int64_t index) const;

 private:
  std::uint64_t encrypt(std::uint64_t x) const;

  std::uint64_t m_size, m_seed, m_epoch;
  int m_half_bits;  // the domain has 2^(2 * m_half_bits) elements
};

}  // namespace spillway
