// One token file, read at random positions: HDF5 (token_format.hpp) or llm.c's .bin (256 int32 of
// header: magic 20240520, version 1, number of tokens; then uint16 GPT-2 tokens; train_gpt2.c),
// which has no checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "io/file/file.hpp"

namespace spillway {

// What can be known of a token file without reading its tokens.
struct TokenLayout {
  std::string kind;  // "HDF5" or "llm.c"
  std::string tokenizer;
  std::int64_t vocab = 0;  // every token is in [0, vocab)
  std::int64_t count = 0;
  std::int64_t documents = 0;     // 0: not recorded
  std::int64_t offset_bytes = 0;  // of the first token
  int token_bytes = 0;            // 1, 2 or 4, little-endian
  // Where document_starts (int64) and the pieces' checksums (token_format.hpp) lie; 0: nowhere.
  std::int64_t documents_at = 0, checksums_at = 0;
  std::string documents_checksum = {};  // of document_starts; empty: not known
};

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

  // Tokens [first, first + size), which must lie in the file. Does not allocate; any thread.
  // Where the file has checksums, every piece that it reads of is proved by its own.
  // Throws Error: damaged for a piece that is not what was written or a token outside the
  // vocabulary (file and position named), storage when it cannot be read.
  void read(std::int64_t first, std::span<std::int32_t> to) const;

 private:
  std::span<std::byte const> proved_piece(std::int64_t piece, std::span<std::byte> buffer) const;
  void require_vocab(std::int64_t first, std::span<std::int32_t const> tokens) const;

  std::filesystem::path m_path;
  TokenLayout m_layout;
  FileDescriptor m_file;
};

}  // namespace spillway
