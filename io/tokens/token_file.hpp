// A TokenFile is read at random positions. It is an HDF5 file (token_format.hpp) or llm.c's .bin,
// as in train_gpt2.c: 256 int32 of header (magic number, version, number of tokens), and then
// tokens of 2 or 4 bytes, without checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "io/file/file.hpp"
#include "io/tokens/document_table.hpp"
#include "io/tokens/token_layout.hpp"

namespace spillway {

// Tokens are read by plain reads, since mapped pages would count as the process's resident memory.
class TokenFile {
 public:
  // Throws Error: bad_input if the file is missing, empty or no token file, damaged if it is cut
  // short.
  explicit TokenFile(std::filesystem::path path);

  std::filesystem::path const& path() const { return m_path; }
  TokenLayout const& layout() const { return m_layout; }
  std::int64_t count() const { return m_layout.count; }
  std::int64_t vocab() const { return m_layout.vocab; }
  // Returns a text that tells these tokens from others, wherever the file lies. It is a checksum of
  // tokenizer, vocabulary, documents, and the checksums of tokens or, if there are none, the
  // tokens. If these are long, only evenly spaced blocks of them are read. Throws Error(storage).
  std::string fingerprint() const;

  // Reads tokens [first, first + to.size()), which must lie in the file. Does not allocate; any
  // thread may call it. If the file has checksums, every piece that is read is verified. Throws
  // Error: damaged if a piece is not what was written or a token is outside the vocabulary (file
  // and position are named), storage if it cannot be read.
  void read(std::int64_t first, std::span<std::int32_t> to) const;

  // append_document_starts appends to `to`, in ascending order, those tokens of [first, end) at
  // which a document begins, and nothing if the file records no documents, as llm.c's files never
  // do. Throws what DocumentTable::append_starts throws.
  bool has_documents() const { return m_layout.documents > 0; }
  void append_document_starts(std::int64_t first, std::int64_t end,
                              std::vector<std::int64_t>& to) const {
    m_documents.append_starts(m_file, first, end, to);
  }

 private:
  std::span<std::byte const> proved_piece(std::int64_t piece, std::span<std::byte> buffer) const;
  void require_vocab(std::int64_t first, std::span<std::int32_t const> tokens) const;

  std::filesystem::path m_path;
  TokenLayout m_layout;
  FileDescriptor m_file;
  DocumentTable m_documents;
};

}  // namespace spillway
