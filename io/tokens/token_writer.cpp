#include "io/tokens/token_writer.hpp"

#include <fmt/core.h>

#include <array>
#include <cassert>
#include <vector>

#include "io/file/file.hpp"
#include "io/tokens/token_format.hpp"

namespace spillway {
namespace {

H5Type smallest_type(std::int64_t vocab) {
  if (vocab <= 1 << 8) return H5Type::u8;
  return vocab <= 1 << 16 ? H5Type::u16 : H5Type::u32;
}

}  // namespace

TokenWriter::TokenWriter(std::filesystem::path path, std::string const& tokenizer,
                         std::int64_t vocab, std::int64_t count)
    : m_path(std::move(path)),
      m_partial(std::filesystem::path(m_path) += ".partial"),
      m_file(H5File::create(m_partial, Status::bad_input)),
      m_type(smallest_type(vocab)),
      m_count(count) {
  m_file.set_text("/", "format", token_format);
  m_file.set_integer("/", "version", token_format_version);
  m_file.set_text("/", "tokenizer", tokenizer);
  m_file.set_integer("/", "vocab", vocab);
  m_file.create_dataset(tokens_dataset, m_type, std::array{count});
}

TokenWriter::~TokenWriter() {
  std::error_code ignored;
  if (!m_closed) std::filesystem::remove(m_partial, ignored);
}

template <class T>
void TokenWriter::append_as(std::span<std::int32_t const> tokens) {
  std::vector<T> const narrow(tokens.begin(), tokens.end());
  m_file.write<T>(tokens_dataset, m_written, narrow);
}

void TokenWriter::append(std::span<std::int32_t const> tokens) {
  assert(m_written + static_cast<std::int64_t>(tokens.size()) <= m_count);
  switch (m_type) {
    case H5Type::u8:
      append_as<std::uint8_t>(tokens);
      break;
    case H5Type::u16:
      append_as<std::uint16_t>(tokens);
      break;
    default:
      append_as<std::uint32_t>(tokens);
  }
  m_written += static_cast<std::int64_t>(tokens.size());
}

void TokenWriter::close(std::span<std::int64_t const> document_starts) {
  assert(m_written == m_count);
  std::array const documents{static_cast<std::int64_t>(document_starts.size())};
  m_file.create_dataset(document_starts_dataset, H5Type::i64, documents);
  m_file.write(document_starts_dataset, 0, document_starts);
  m_file.close();
  std::error_code error;
  std::filesystem::rename(m_partial, m_path, error);
  if (error) {
    throw Error(Status::storage, fmt::format("{}: cannot be renamed to {}: {}", m_partial.string(),
                                             m_path.string(), error.message()));
  }
  m_closed = true;
  auto const parent = m_path.parent_path();
  sync_path(parent.empty() ? "." : parent);
}

}  // namespace spillway
