// A Permutation is a pseudo-random order of the numbers in [0, n). It needs O(1) memory and
// computes each element by itself, by a Feistel network over Philox on the smallest domain 4^k >= n
// with k >= 1. The network is applied again while its result is outside [0, n) (cycle walking;
// Black and Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002).
#pragma once

#include <cstdint>

namespace spillway {

class Permutation {
 public:
  // Throws std::logic_error if `size` is less than 1. Equal arguments give the same order on every
  // machine.
  Permutation(std::int64_t size, std::uint64_t seed, std::uint64_t epoch);

  // Returns the number at the place `index` of the order. Throws std::logic_error if `index` is
  // outside [0, size). On average the Feistel network runs at most four times.
  std::int64_t operator()(std::int64_t index) const;

 private:
  std::uint64_t encrypt(std::uint64_t x) const;

  std::uint64_t m_size, m_seed, m_epoch;
  int m_half_bits;  // the domain has 2^(2 * m_half_bits) elements
};

}  // namespace spillway
