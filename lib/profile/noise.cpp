#include "profile/noise.hpp"

#include <cassert>
#include <cstdint>
#include <cstring>
#include <random>

namespace spillway {

void fill_with_noise(std::span<std::byte> bytes) {
  assert(bytes.size() % sizeof(std::uint64_t) == 0);
  std::mt19937_64 numbers(1);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t const number = numbers();
    std::memcpy(bytes.data() + at, &number, sizeof number);
  }
}

}  // namespace spillway
