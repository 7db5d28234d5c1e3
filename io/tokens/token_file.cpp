#include "io/tokens/token_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/math.hpp"
#include "io/file/read_file.hpp"
#include "io/tokens/token_bytes.hpp"
#include "io/tokens/token_format.hpp"

namespace spillway {
namespace {

// A fingerprint reads at most kBlocks ranges of kBlockBytes bytes, evenly spaced, the first and the
// last bytes among them.
constexpr std::int64_t kBlockBytes = 4096, kBlocks = 32;

}  // namespace

TokenFile::TokenFile(std::filesystem::path path)
    : m_path(std::move(path)),
      m_layout(read_token_layout(m_path)),
      m_file(open_for_reading(m_path)),
      m_documents(m_path, m_file, m_layout) {}

// Reads the numbers that share checksum number `piece`, kTokenPieceBytes of them or fewer at the
// end of the dataset, and verifies them. Throws Error: damaged or storage.
std::span<std::byte const> TokenFile::proved_piece(Dataset const& data, std::int64_t piece,
                                                   std::span<std::byte> buffer) const {
  auto const first_byte = piece * kTokenPieceBytes;
  auto const bytes = std::min(kTokenPieceBytes, m_layout.count * data.each_bytes - first_byte);
  auto const read = buffer.first(static_cast<std::size_t>(bytes));
  std::uint64_t expected = 0;
  constexpr std::int64_t entry_bytes = sizeof expected;
  read_range(m_file, m_path, data.offset_bytes + first_byte, read);
  read_range(m_file, m_path, data.checksums_offset_bytes + piece * entry_bytes,
             std::as_writable_bytes(std::span(&expected, 1)));
  if (checksum(read) == expected) return read;
  auto const first = first_byte / data.each_bytes;
  throw Error(Status::damaged,
              fmt::format("{}: {} {} to {} are not what was written", m_path.string(), data.what,
                          first, first + bytes / data.each_bytes - 1));
}

// Calls take(at, bytes) for `count` numbers from `first` on, some at a time, proved where the
// dataset has checksums. `at` counts from `first`.
template <class Take>
void TokenFile::each_part(Dataset const& data, std::int64_t first, std::int64_t count,
                          Take const& take) const {
  if (first < 0 || count > m_layout.count - first)
    throw std::logic_error(
        fmt::format("{}: has no {} tokens from {} on", m_path.string(), count, first));
  alignas(8) std::array<std::byte, kTokenPieceBytes> buffer;
  auto const per_piece = kTokenPieceBytes / data.each_bytes;
  for (std::int64_t done = 0; done < count;) {
    auto const at = (first + done) % per_piece;  // the position in its piece
    auto const size = std::min(count - done, per_piece - at);
    auto const bytes = static_cast<std::size_t>(size * data.each_bytes);
    std::span<std::byte const> read = std::span(buffer).first(bytes);
    if (data.checksums_offset_bytes > 0) {
      auto const skipped = static_cast<std::size_t>(at * data.each_bytes);
      read = proved_piece(data, (first + done) / per_piece, buffer).subspan(skipped, bytes);
    } else {
      read_range(m_file, m_path, data.offset_bytes + (first + done) * data.each_bytes,
                 std::span(buffer).first(bytes));
    }
    take(done, read);
    done += size;
  }
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

// Adds the checksums of a dataset or, if it has none, itself: of much only evenly spaced ranges.
void TokenFile::add_fingerprint(Dataset const& data, StreamingChecksum& sum) const {
  auto const data_bytes = m_layout.count * data.each_bytes;
  bool const summed = data.checksums_offset_bytes > 0;
  auto const at = summed ? data.checksums_offset_bytes : data.offset_bytes;
  auto const bytes = summed ? div_ceil(data_bytes, kTokenPieceBytes) *
                                  static_cast<std::int64_t>(sizeof(std::uint64_t))
                            : data_bytes;
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
}

std::string TokenFile::fingerprint() const {
  StreamingChecksum sum;
  auto const kind =
      fmt::format("{} {} {} {} {} {}", m_layout.tokenizer, m_layout.vocab, m_layout.token_bytes,
                  m_layout.count, m_layout.documents, m_layout.documents_checksum);
  sum.add(std::as_bytes(std::span(kind)));
  add_fingerprint(tokens(), sum);
  if (has_mask()) add_fingerprint(mask(), sum);
  return checksum_text(sum.value());
}

void TokenFile::read(std::int64_t first, std::span<std::int32_t> to) const {
  auto const take = [&](std::int64_t at, std::span<std::byte const> bytes) {
    auto const count = bytes.size() / static_cast<std::size_t>(m_layout.token_bytes);
    auto const part = to.subspan(static_cast<std::size_t>(at), count);
    widen(bytes.data(), m_layout.token_bytes, part);
    require_vocab(first + at, part);
  };
  each_part(tokens(), first, std::ssize(to), take);
}

void TokenFile::read_mask(std::int64_t first, std::span<std::uint8_t> to) const {
  if (!has_mask()) throw std::logic_error(m_path.string() + ": has no mask");
  auto const take = [&](std::int64_t at, std::span<std::byte const> bytes) {
    auto const part = to.subspan(static_cast<std::size_t>(at), bytes.size());
    std::ranges::copy(bytes, std::as_writable_bytes(part).begin());
    auto const strange = std::ranges::find_if(part, [](std::uint8_t one) { return one > 1; });
    if (strange == part.end()) return;
    throw Error(Status::damaged,
                fmt::format("{}: /loss_mask of token {} is {}, neither 0 nor 1", m_path.string(),
                            first + at + (strange - part.begin()), *strange));
  };
  each_part(mask(), first, std::ssize(to), take);
}

}  // namespace spillway
