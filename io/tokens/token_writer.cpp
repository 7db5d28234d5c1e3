#include "io/tokens/token_writer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/error.hpp"
#include "base/math.hpp"
#include "io/file/file.hpp"
#include "io/h5/h5_file.hpp"
#include "io/tokens/token_bytes.hpp"
#include "io/tokens/token_format.hpp"
#include "io/tokens/token_head.hpp"

namespace spillway {
namespace {

H5Type type_of(int token_bytes) {
  if (token_bytes == 1) return H5Type::u8;
  return token_bytes == 2 ? H5Type::u16 : H5Type::u32;
}

// Throws std::logic_error that names `path` unless `so`: the caller must write what it has
// announced.
void require(bool so, std::filesystem::path const& path, char const* what) {
  if (!so) throw std::logic_error(fmt::format("{}: {}", path.string(), what));
}

}  // namespace

void PieceSums::add(std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    auto const left = kTokenPieceBytes - m_bytes % kTokenPieceBytes;
    auto const part = bytes.first(std::min(bytes.size(), static_cast<std::size_t>(left)));
    m_piece.add(part);
    m_bytes += std::ssize(part);
    if (m_bytes % kTokenPieceBytes == 0) {
      m_sums.push_back(m_piece.value());
      m_piece.restart();
    }
    bytes = bytes.subspan(part.size());
  }
}

std::vector<std::uint64_t> const& PieceSums::end() {
  if (m_bytes % kTokenPieceBytes != 0) m_sums.push_back(m_piece.value());
  return m_sums;
}

TokenWriter::TokenWriter(Output output, std::string const& tokenizer, std::int64_t vocab,
                         std::int64_t count, std::int64_t documents, std::string const& checksum,
                         bool has_mask)
    : m_path(output.path()),
      m_unfinished(std::move(output)),
      m_layout{.kind = "HDF5",
               .tokenizer = tokenizer,
               .vocab = vocab,
               .count = count,
               .documents = documents,
               .token_bytes = smallest_bytes(vocab),
               .tokenizer_checksum = checksum} {
  lay_out(has_mask);
  m_file = OutputFile::open(m_unfinished.path());
}

void TokenWriter::lay_out(bool has_mask) {
  auto file = H5File::create(m_unfinished.path(), Status::bad_input, kTokenHeadBytes);
  file.set_text("/", "format", token_format);
  file.set_integer("/", "version", has_mask ? masked_token_format_version : token_format_version);
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
  if (has_mask) {
    m_layout.mask_offset_bytes = place(loss_mask_dataset, H5Type::u8, m_layout.count);
    m_layout.mask_checksums_offset_bytes =
        place(loss_mask_checksums_dataset, H5Type::i64, div_ceil(m_layout.count, kTokenPieceBytes));
  }
  file.close(Durable::no);  // the function `close` waits for storage later
}

void TokenWriter::append(std::span<std::int32_t const> tokens) {
  auto const bytes = narrow(tokens, m_layout.token_bytes);
  auto const all_bytes = m_layout.count * m_layout.token_bytes;
  require(std::ssize(bytes) <= all_bytes - m_tokens.bytes(), m_path, "more tokens than announced");
  write(m_layout.offset_bytes, bytes, m_tokens);
}

void TokenWriter::append_mask(std::span<std::uint8_t const> mask) {
  bool const fits =
      m_layout.mask_offset_bytes > 0 && std::ssize(mask) <= m_layout.count - m_mask.bytes();
  require(fits, m_path, "a longer mask than announced");
  write(m_layout.mask_offset_bytes, std::as_bytes(mask), m_mask);
  m_layout.learned += std::ranges::count(mask, 1);
}

void TokenWriter::write(std::int64_t offset_bytes, std::span<std::byte const> bytes,
                        PieceSums& sums) {
  m_file->write(offset_bytes + sums.bytes(), bytes);
  sums.add(bytes);
}

void TokenWriter::close(std::span<std::int64_t const> document_starts) {
  require(m_tokens.bytes() == m_layout.count * m_layout.token_bytes, m_path,
          "fewer tokens than announced");
  require(std::ssize(document_starts) == m_layout.documents, m_path,
          "other documents than announced");
  m_file->write(m_layout.checksums_offset_bytes, std::as_bytes(std::span(m_tokens.end())));
  m_file->write(m_layout.documents_offset_bytes, std::as_bytes(document_starts));
  if (m_layout.mask_offset_bytes > 0) {
    require(m_mask.bytes() == m_layout.count, m_path, "a shorter mask than announced");
    m_file->write(m_layout.mask_checksums_offset_bytes, std::as_bytes(std::span(m_mask.end())));
  }
  m_layout.documents_checksum = checksum_text(checksum(std::as_bytes(document_starts)));
  auto const head = token_head(m_layout);
  m_file->write(0, std::as_bytes(std::span(head)));
  m_file->close();
  m_unfinished.finish();
}

}  // namespace spillway
