// A TokenSpool keeps tokens in a file until it is known how many there are; only for this folder's
// sources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "io/file/file.hpp"

namespace spillway {

class TokenSpool {
 public:
  // Makes a file without a name in `directory`, for tokens below `vocab`. Throws Error(storage) if
  // that fails.
  TokenSpool(std::filesystem::path directory, std::int64_t vocab);
  // Goes on behind the first `count` tokens of a file, which is made if there are none. Throws
  // Error(storage) if that fails, or if the file has fewer.
  TokenSpool(std::filesystem::path file, std::int64_t vocab, std::int64_t count);

  // These throw Error(storage) if the file cannot be written or read.
  void append(std::span<std::int32_t const> tokens);
  // Reads tokens from number `first` on, as many as fit, into `tokens`. Returns how many.
  std::size_t read(std::int64_t first, std::span<std::int32_t> tokens) const;
  std::int64_t count() const { return m_count; }
  void sync() const;  // waits until all is on storage

 private:
  std::filesystem::path m_place;  // for messages
  int m_token_bytes;
  FileDescriptor m_file;
  std::int64_t m_count = 0;
};

}  // namespace spillway
