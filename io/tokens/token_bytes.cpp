#include "io/tokens/token_bytes.hpp"

#include <bit>
#include <cstring>

namespace spillway {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are little-endian");

template <class T>
void widen(std::byte const* from, std::span<std::int32_t> to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    T token;
    std::memcpy(&token, from + i * sizeof(T), sizeof(T));
    to[i] = static_cast<std::int32_t>(token);
  }
}

}  // namespace

int smallest_bytes(std::int64_t vocab) {
  if (vocab <= 1 << 8) return 1;
  return vocab <= 1 << 16 ? 2 : 4;
}

std::vector<std::byte> narrow(std::span<std::int32_t const> tokens, int token_bytes) {
  std::vector<std::byte> bytes;
  bytes.reserve(tokens.size() * static_cast<std::size_t>(token_bytes));
  for (auto const token : tokens) {
    for (int i = 0; i < token_bytes; ++i)
      bytes.push_back(static_cast<std::byte>(static_cast<std::uint32_t>(token) >> (8 * i)));
  }
  return bytes;
}

void widen(std::byte const* from, int token_bytes, std::span<std::int32_t> to) {
  switch (token_bytes) {
    case 1:
      return widen<std::uint8_t>(from, to);
    case 2:
      return widen<std::uint16_t>(from, to);
    default:
      return widen<std::uint32_t>(from, to);
  }
}

}  // namespace spillway
