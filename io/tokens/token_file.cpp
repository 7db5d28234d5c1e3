#include "io/tokens/token_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/math.hpp"
#include "io/file/read_file.hpp"
#include "io/tokens/token_format.hpp"

namespace spillway {
namespace {

// A fingerprint reads at most kBlocks ranges of kBlockBytes bytes, evenly spaced, the first and the
// last bytes among them.
constexpr std::int64_t kBlockBytes = 4096, kBlocks = 32;

static_assert(std::endian::native == std::endian::little, "token files are little-endian");

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
      m_file(open_for_reading(m_path)),
      m_documents(m_path, m_file, m_layout) {}

// Reads the tokens that share checksum number `piece`, kTokenPieceBytes of them or fewer at the end
// of the file, and verifies them. Throws Error: damaged or storage.
std::span<std::byte const> TokenFile::proved_piece(std::int64_t piece,
                                                   std::span<std::byte> buffer) const {
  auto const first_byte = piece * kTokenPieceBytes;
  auto const bytes = std::min(kTokenPieceBytes, m_layout.count * m_layout.token_bytes - first_byte);
  auto const read = buffer.first(static_cast<std::size_t>(bytes));
  std::uint64_t expected = 0;
  constexpr std::int64_t entry_bytes = sizeof expected;
  read_range(m_file, m_path, m_layout.offset_bytes + first_byte, read);
  read_range(m_file, m_path, m_layout.checksums_offset_bytes + piece * entry_bytes,
             std::as_writable_bytes(std::span(&expected, 1)));
  if (checksum(read) == expected) return read;
  auto const token = first_byte / m_layout.token_bytes;
  throw Error(Status::damaged,
              fmt::format("{}: tokens {} to {} are not what was written", m_path.string(), token,
                          token + bytes / m_layout.token_bytes - 1));
}

void TokenFile::require_vocab(std::int64_t first, std::span<std::int32_t const> tokens) const {
  // The comparison is unsigned, so that a 32-bit token that has become negative is found, too.
  auto const vocab = static_cast<std::uint32_t>(m_layout.vocab);
  auto const outside = std::ranges::find_if(
      tokens, [&](std::int32_t token) { return static_cast<std::uint32_t>(token) >= vocab; });
  if (outside == tokens.end()) return;
  throw Error(Status::damaged, fmt::format("{}: token {} is {}, the vocabulary has {}",
                                           m_path.string(), first + (outside - tokens.begin()),
                                           static_cast<std::uint32_t>(*outside), vocab));
}

std::string TokenFile::fingerprint() const {
  StreamingChecksum sum;
  auto const kind =
      fmt::format("{} {} {} {} {} {}", m_layout.tokenizer, m_layout.vocab, m_layout.token_bytes,
                  m_layout.count, m_layout.documents, m_layout.documents_checksum);
  sum.add(std::as_bytes(std::span(kind)));
  auto const token_bytes = m_layout.count * m_layout.token_bytes;
  bool const summed = m_layout.checksums_offset_bytes > 0;
  auto const at = summed ? m_layout.checksums_offset_bytes : m_layout.offset_bytes;
  auto const bytes = summed ? div_ceil(token_bytes, kTokenPieceBytes) *
                                  static_cast<std::int64_t>(sizeof(std::uint64_t))
                            : token_bytes;
  std::array<std::byte, kBlockBytes> block{};
  auto const blocks = std::min(div_ceil(bytes, kBlockBytes), kBlocks);
  for (std::int64_t i = 0; i < blocks; ++i) {
    bool const all = bytes <= kBlocks * kBlockBytes;
    auto const first = all ? i * kBlockBytes : i * ((bytes - kBlockBytes) / (kBlocks - 1));
    auto const size = std::min(kBlockBytes, bytes - first);
    auto const part = std::span(block).first(static_cast<std::size_t>(size));
    read_range(m_file, m_path, at + first, part);
    sum.add(part);
  }
  return checksum_text(sum.value());
}

void TokenFile::read(std::int64_t first, std::span<std::int32_t> to) const {
  if (first < 0 || std::ssize(to) > m_layout.count - first)
    throw std::logic_error(
        fmt::format("{}: has no {} tokens from {} on", m_path.string(), to.size(), first));
  alignas(8) std::array<std::byte, kTokenPieceBytes> buffer;
  auto const per_piece = kTokenPieceBytes / m_layout.token_bytes;
  while (!to.empty()) {
    auto const at = first % per_piece;  // the position of `first` in its piece
    auto const size = std::min(std::ssize(to), per_piece - at);
    auto const part = to.first(static_cast<std::size_t>(size));
    auto const bytes = static_cast<std::size_t>(size * m_layout.token_bytes);
    std::span<std::byte const> read = std::span(buffer).first(bytes);
    if (m_layout.checksums_offset_bytes > 0) {
      auto const skipped = static_cast<std::size_t>(at * m_layout.token_bytes);
      read = proved_piece(first / per_piece, buffer).subspan(skipped, bytes);
    } else {
      read_range(m_file, m_path, m_layout.offset_bytes + first * m_layout.token_bytes,
                 std::span(buffer).first(bytes));
    }
    widen(read.data(), m_layout.token_bytes, part);
    require_vocab(first, part);
    first += size;
    to = to.subspan(part.size());
  }
}

}  // namespace spillway
