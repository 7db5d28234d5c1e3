#include "io/tokens/token_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "base/error.hpp"
#include "io/tokens/token_layout.hpp"

namespace spillway {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are little-endian");

using Buffer = std::array<std::byte, 16384>;

template <class T>
void widen(std::byte const* from, std::span<std::int32_t> to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    T token;
    std::memcpy(&token, from + i * sizeof(T), sizeof(T));
    to[i] = static_cast<std::int32_t>(token);
  }
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

}  // namespace

TokenFile::TokenFile(std::filesystem::path path)
    : m_path(std::move(path)),
      m_layout(read_token_layout(m_path)),
      m_file(open_for_reading(m_path)) {}

void TokenFile::read(std::int64_t first, std::span<std::int32_t> to) const {
  assert(first >= 0 && first + static_cast<std::int64_t>(to.size()) <= m_layout.count);
  Buffer buffer;
  auto const width = static_cast<std::size_t>(m_layout.token_bytes);
  auto const vocab = static_cast<std::uint32_t>(m_layout.vocab);
  while (!to.empty()) {
    auto const piece = to.first(std::min(to.size(), buffer.size() / width));
    auto const bytes = std::span(buffer).first(piece.size() * width);
    std::int64_t const offset_bytes = m_layout.offset_bytes + first * m_layout.token_bytes;
    auto const got = read_fully(m_file.get(), bytes, offset_bytes);
    if (got.done_bytes != static_cast<std::int64_t>(bytes.size())) {
      throw Error(Status::storage,
                  fmt::format("{}: cannot be read at token {}: {}", m_path.string(), first,
                              got.error ? error_text(got.error) : "the file has become shorter"));
    }
    widen(buffer.data(), m_layout.token_bytes, piece);
    // As unsigned, a 32-bit token that turned negative is outside too.
    auto const outside = std::find_if(piece.begin(), piece.end(), [&](std::int32_t token) {
      return static_cast<std::uint32_t>(token) >= vocab;
    });
    if (outside != piece.end()) {
      throw Error(Status::damaged, fmt::format("{}: token {} is {}, the vocabulary has {}",
                                               m_path.string(), first + (outside - piece.begin()),
                                               static_cast<std::uint32_t>(*outside), vocab));
    }
    first += static_cast<std::int64_t>(piece.size());
    to = to.subspan(piece.size());
  }
}

}  // namespace spillway
