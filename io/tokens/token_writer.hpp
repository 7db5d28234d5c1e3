// Writes an HDF5 token file (token_format.hpp) from a stream of tokens.
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

// The file gets its name in `close`, so that no half-written file is ever taken for a whole one.
// All functions throw Error: bad_input if the file cannot be created, storage if writing fails
// later.
class TokenWriter {
 public:
  // The caller must append `count` tokens in [0, vocab), which belong to `documents` documents.
  // Tokens are stored in the smallest unsigned type that holds the vocabulary. `checksum` is the
  // tokenizer's; "" for one that has none.
  TokenWriter(Output output, std::string const& tokenizer, std::int64_t vocab, std::int64_t count,
              std::int64_t documents, std::string const& checksum = {});
  TokenWriter(TokenWriter const&) = delete;
  TokenWriter& operator=(TokenWriter const&) = delete;

  void append(std::span<std::int32_t const> tokens);
  // Call `close` when all tokens have been appended. `document_starts` has the position of each
  // document's first token, for as many documents as the constructor was told.
  void close(std::span<std::int64_t const> document_starts);

 private:
  void lay_out();
  void write(std::span<std::byte const> bytes);
  void end_piece();

  std::filesystem::path m_path;
  UnfinishedFile m_unfinished;
  TokenLayout m_layout;
  std::optional<OutputFile> m_file;
  std::int64_t m_written_bytes = 0;
  StreamingChecksum m_piece;  // the checksum of what follows the last 16 KiB that are complete
  std::vector<std::uint64_t> m_checksums;
};

}  // namespace spillway
