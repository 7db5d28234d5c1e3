#include "base/permutation.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "base/philox.hpp"

namespace spillway {
namespace {

// Four rounds of a Feistel network suffice if the round function is ideal (Luby and Rackoff). Small
// domains need a few more to be well mixed.
constexpr std::uint64_t rounds = 6;

}  // namespace

Permutation::Permutation(std::int64_t size, std::uint64_t seed, std::uint64_t epoch)
    : m_size(static_cast<std::uint64_t>(size)), m_seed(seed), m_epoch(epoch) {
  if (size < 1) throw std::logic_error("permutation: of nothing");
  int const bits = std::bit_width(m_size - 1);
  m_half_bits = std::max(1, (bits + 1) / 2);
}

std::int64_t Permutation::operator()(std::int64_t index) const {
  if (index < 0 || static_cast<std::uint64_t>(index) >= m_size)
    throw std::logic_error("permutation: an index outside its range would lead nowhere");
  auto x = static_cast<std::uint64_t>(index);
  do {
    x = encrypt(x);
  } while (x >= m_size);
  return static_cast<std::int64_t>(x);
}

std::uint64_t Permutation::encrypt(std::uint64_t x) const {
  std::uint64_t const mask = (std::uint64_t{1} << m_half_bits) - 1;
  std::uint64_t left = x >> m_half_bits, right = x & mask;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::uint64_t const mixed = left ^ (philox(m_seed, m_epoch, round << 32 | right).x[0] & mask);
    left = right;
    right = mixed;
  }
  return left << m_half_bits | right;
}

}  // namespace spillway
