#include "io/tokens/document_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/math.hpp"
#include "io/file/read_file.hpp"
#include "io/tokens/token_format.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kStartBytes = sizeof(std::int64_t);
constexpr std::int64_t kPieceStarts = kTokenPieceBytes / kStartBytes;
using PieceBuffer = std::array<std::int64_t, kPieceStarts>;

[[noreturn]] void fail(std::filesystem::path const& path, std::string const& what) {
  throw Error(Status::damaged, fmt::format("{}: {}", path.string(), what));
}

}  // namespace

DocumentTable::DocumentTable(std::filesystem::path path, FileDescriptor const& file,
                             TokenLayout const& layout)
    : m_path(std::move(path)),
      m_offset_bytes(layout.documents_offset_bytes),
      m_documents(layout.documents) {
  m_pieces.resize(static_cast<std::size_t>(div_ceil(m_documents, kPieceStarts)));
  PieceBuffer buffer;
  StreamingChecksum sum;
  std::int64_t before = -1;
  for (std::size_t piece = 0; piece < m_pieces.size(); ++piece) {
    auto const starts = read(file, piece, buffer);
    auto const bytes = std::as_bytes(starts);
    sum.add(bytes);
    m_pieces[piece] = {starts.front(), checksum(bytes)};
    for (auto const start : starts) {
      bool const possible = before < 0 ? start == 0 : start > before && start < layout.count;
      if (!possible) fail(m_path, fmt::format("a document cannot begin at token {}", start));
      before = start;
    }
  }
  auto const& expected = layout.documents_checksum;
  if (!expected.empty() && checksum_text(sum.value()) != expected)
    fail(m_path, "its documents' beginnings are not what was written");
}

// Reads the table's entries that share checksum number `piece` into the beginning of `buffer`.
std::span<std::int64_t const> DocumentTable::read(FileDescriptor const& file, std::size_t piece,
                                                  std::span<std::int64_t> buffer) const {
  auto const first = static_cast<std::int64_t>(piece) * kPieceStarts;
  auto const size = std::min(kPieceStarts, m_documents - first);
  auto const starts = buffer.first(static_cast<std::size_t>(size));
  read_range(file, m_path, m_offset_bytes + first * kStartBytes, std::as_writable_bytes(starts));
  return starts;
}

void DocumentTable::append_starts(FileDescriptor const& file, std::int64_t first, std::int64_t end,
                                  std::vector<std::int64_t>& to) const {
  auto const after = std::ranges::upper_bound(m_pieces, first, {}, &PieceSummary::first_start);
  auto piece = static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, after - m_pieces.begin()) - 1);
  PieceBuffer buffer;
  for (; piece < m_pieces.size() && m_pieces[piece].first_start < end; ++piece) {
    auto const starts = read(file, piece, buffer);
    if (checksum(std::as_bytes(starts)) != m_pieces[piece].checksum)
      fail(m_path, "its documents' beginnings have changed since it was opened");
    to.insert(to.end(), std::ranges::lower_bound(starts, first),
              std::ranges::lower_bound(starts, end));
  }
}

}  // namespace spillway
