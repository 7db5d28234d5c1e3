// One token file, read at random positions: HDF5 (token_format.hpp) or llm.c's .bin (256 int32 of
// header: magic 20240520, version 1, number of tokens; then uint16 tokens of gpt2; train_gpt2.c),
// which has no checksums.
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

// Read by plain reads, not mapped: mapped pages would count as the process's resident memory.
class TokenFile {
 public:
  // Throws Error: bad_input when the file is missing, empty or no token file; damaged when it is
  // cut short.
  explicit TokenFile(std::filesystem::path path);

  std::filesystem::path const& path() const { return m_path; }
  TokenLayout const& layout() const { return m_layout; }
  std::int64_t count() const { return m_layout.count; }
  std::int64_t vocab() const { return m_layout.vocab; }
  // Tells this text from another one, wherever the file lies: a checksum of its kind of tokens, its
  // documents, and the checksums of its tokens or, where it has none, the tokens. Where they are
  // many, evenly spaced ones are read. Throws Error(storage).
  std::string fingerprint() const;

  // Tokens [first, first + size), which must lie in the file. Does not allocate; any thread.
  // Where the file has checksums, every piece that it reads of is proved by its own.
  // Throws Error: damaged for a piece that is not what was written or a token outside the
  // vocabulary (file and position named), storage when it cannot be read.
  void read(std::int64_t first, std::span<std::int32_t> to) const;

  // Appends the tokens of [first, end) at which a document begins, ascending; as DocumentTable.
  // Nothing where the file records no documents (llm.c's never does).
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
