#include "io/tokens/token_writer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/error.hpp"
#include "base/math.hpp"
#include "io/file/file.hpp"
#include "io/h5/h5_file.hpp"
#include "io/tokens/token_format.hpp"
#include "io/tokens/token_head.hpp"

namespace spillway {
namespace {

int smallest_bytes(std::int64_t vocab) {
  if (vocab <= 1 << 8) return 1;
  return vocab <= 1 << 16 ? 2 : 4;
}

H5Type type_of(int token_bytes) {
  if (token_bytes == 1) return H5Type::u8;
  return token_bytes == 2 ? H5Type::u16 : H5Type::u32;
}

// Returns the lowest `token_bytes` bytes of every token, little-endian.
std::vector<std::byte> narrow(std::span<std::int32_t const> tokens, int token_bytes) {
  std::vector<std::byte> bytes;
  bytes.reserve(tokens.size() * static_cast<std::size_t>(token_bytes));
  for (auto const token : tokens) {
    for (int i = 0; i < token_bytes; ++i)
      bytes.push_back(static_cast<std::byte>(static_cast<std::uint32_t>(token) >> (8 * i)));
  }
  return bytes;
}

// Throws std::logic_error that names `path` unless `so`: the caller must write what it has
// announced.
void require(bool so, std::filesystem::path const& path, char const* what) {
  if (!so) throw std::logic_error(fmt::format("{}: {}", path.string(), what));
}

}  // namespace

TokenWriter::TokenWriter(Output output, std::string const& tokenizer, std::int64_t vocab,
                         std::int64_t count, std::int64_t documents, std::string const& checksum)
    : m_path(output.path()),
      m_unfinished(std::move(output)),
      m_layout{.kind = "HDF5",
               .tokenizer = tokenizer,
               .vocab = vocab,
               .count = count,
               .documents = documents,
               .token_bytes = smallest_bytes(vocab),
               .tokenizer_checksum = checksum} {
  lay_out();
  m_file = OutputFile::open(m_unfinished.path());
}

void TokenWriter::lay_out() {
  auto file = H5File::create(m_unfinished.path(), Status::bad_input, kTokenHeadBytes);
  file.set_text("/", "format", token_format);
  file.set_integer("/", "version", token_format_version);
  file.set_text("/", "tokenizer", m_layout.tokenizer);
  if (!m_layout.tokenizer_checksum.empty())
    file.set_text("/", "tokenizer_xxh3", m_layout.tokenizer_checksum);
  file.set_integer("/", "vocab", m_layout.vocab);
  auto const place = [&](char const* name, H5Type type, std::int64_t size) {
    file.create_dataset(name, type, std::array{size});
    return std::max<std::int64_t>(file.offset_bytes(name), 0);  // an empty dataset has no offset
  };
  auto const pieces = div_ceil(m_layout.count * m_layout.token_bytes, kTokenPieceBytes);
  m_layout.offset_bytes = place(tokens_dataset, type_of(m_layout.token_bytes), m_layout.count);
  m_layout.checksums_offset_bytes = place(piece_checksums_dataset, H5Type::i64, pieces);
  m_layout.documents_offset_bytes = place(document_starts_dataset, H5Type::i64, m_layout.documents);
  file.close(Durable::no);  // the function `close` waits for storage later
}

void TokenWriter::append(std::span<std::int32_t const> tokens) {
  auto const bytes = narrow(tokens, m_layout.token_bytes);
  auto const all_bytes = m_layout.count * m_layout.token_bytes;
  require(std::ssize(bytes) <= all_bytes - m_written_bytes, m_path, "more tokens than announced");
  write(bytes);
}

void TokenWriter::write(std::span<std::byte const> bytes) {
  m_file->write(m_layout.offset_bytes + m_written_bytes, bytes);
  while (!bytes.empty()) {
    auto const left = kTokenPieceBytes - m_written_bytes % kTokenPieceBytes;
    auto const part = bytes.first(std::min(bytes.size(), static_cast<std::size_t>(left)));
    m_piece.add(part);
    m_written_bytes += std::ssize(part);
    if (m_written_bytes % kTokenPieceBytes == 0) end_piece();
    bytes = bytes.subspan(part.size());
  }
}

void TokenWriter::end_piece() {
  m_checksums.push_back(m_piece.value());
  m_piece.restart();
}

void TokenWriter::close(std::span<std::int64_t const> document_starts) {
  require(m_written_bytes == m_layout.count * m_layout.token_bytes, m_path,
          "fewer tokens than announced");
  require(std::ssize(document_starts) == m_layout.documents, m_path,
          "other documents than announced");
  if (m_written_bytes % kTokenPieceBytes != 0) end_piece();
  m_file->write(m_layout.checksums_offset_bytes, std::as_bytes(std::span(m_checksums)));
  m_file->write(m_layout.documents_offset_bytes, std::as_bytes(document_starts));
  m_layout.documents_checksum = checksum_text(checksum(std::as_bytes(document_starts)));
  auto const head = token_head(m_layout);
  m_file->write(0, std::as_bytes(std::span(head)));
  m_file->close();
  m_unfinished.finish();
}

}  // namespace spillway
