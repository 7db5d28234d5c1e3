// Writes an HDF5 token file (token_format.hpp) in a stream of tokens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "io/h5/h5_file.hpp"

namespace spillway {

// Writes <path>.partial and gives it its name in close(), so that no half-written file is ever
// taken for a whole one. Throws Error: bad_input when it cannot be created, storage when it fails
// later.
class TokenWriter {
 public:
  // `count` tokens in [0, vocab) will follow; they are stored in the smallest type that holds
  // vocab.
  TokenWriter(std::filesystem::path path, std::string const& tokenizer, std::int64_t vocab,
              std::int64_t count);
  ~TokenWriter();  // removes the partial file when not closed
  TokenWriter(TokenWriter const&) = delete;
  TokenWriter& operator=(TokenWriter const&) = delete;

  void append(std::span<std::int32_t const> tokens);
  // All tokens must have come.
  void close(std::span<std::int64_t const> document_starts);

 private:
  template <class T>
  void append_as(std::span<std::int32_t const> tokens);

  std::filesystem::path m_path, m_partial;
  H5File m_file;
  H5Type m_type;
  std::int64_t m_count, m_written = 0;
  bool m_closed = false;
};

}  // namespace spillway
