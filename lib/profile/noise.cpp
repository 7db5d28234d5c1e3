#include "profile/noise.hpp"

#include <cstdint>
#include <cstring>
#include <random>

#include "base/check.hpp"

namespace spillway {

void fill_with_noise(std::span<std::byte> bytes) {
  check(bytes.size() % sizeof(std::uint64_t) == 0, "noise", "is made eight bytes at a time");
  std::mt19937_64 numbers(1);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t const number = numbers();
    std::memcpy(bytes.data() + at, &number, sizeof number);
  }
}

}  // namespace spillway
