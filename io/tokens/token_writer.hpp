// Writes an HDF5 token file (token_format.hpp) from a stream of tokens, and of which are learned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/checksum.hpp"
#include "io/file/output.hpp"
#include "io/file/output_file.hpp"
#include "io/tokens/token_file.hpp"

namespace spillway {

// PieceSums are the checksums of each 16 KiB of bytes that come bit by bit.
class PieceSums {
 public:
  void add(std::span<std::byte const> bytes);
  // Returns them all, that of the last piece among them, when no more bytes come.
  std::vector<std::uint64_t> const& end();
  std::int64_t bytes() const { return m_bytes; }

 private:
  std::int64_t m_bytes = 0;
  StreamingChecksum m_piece;  // of what follows the last 16 KiB that are complete
  std::vector<std::uint64_t> m_sums;
};

// The file gets its name in `close`, so that no half-written file is ever taken for a whole one.
// All functions throw Error: bad_input if the file cannot be created, storage if writing fails
// later.
class TokenWriter {
 public:
  // The caller must append `count` tokens in [0, vocab), which belong to `documents` documents.
  // Tokens are stored in the smallest unsigned type that holds the vocabulary. `checksum` is the
  // tokenizer's; "" for one that has none. With a mask the caller must also say of each token
  // whether it is learned (append_mask).
  TokenWriter(Output output, std::string const& tokenizer, std::int64_t vocab, std::int64_t count,
              std::int64_t documents, std::string const& checksum = {}, bool has_mask = false);
  TokenWriter(TokenWriter const&) = delete;
  TokenWriter& operator=(TokenWriter const&) = delete;

  void append(std::span<std::int32_t const> tokens);
  void append_mask(std::span<std::uint8_t const> mask);  // 1: learned, 0: only seen
  // Call `close` when all tokens have been appended. `document_starts` has the position of each
  // document's first token, for as many documents as the constructor was told.
  void close(std::span<std::int64_t const> document_starts);

 private:
  void lay_out(bool has_mask);
  void write(std::int64_t offset_bytes, std::span<std::byte const> bytes, PieceSums& sums);

  std::filesystem::path m_path;
  UnfinishedFile m_unfinished;
  TokenLayout m_layout;
  std::optional<OutputFile> m_file;
  PieceSums m_tokens, m_mask;
};

}  // namespace spillway
