// A TokenSpool keeps tokens in a file without a name until it is known how many there are; only for
// this folder's sources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "io/file/file.hpp"

namespace spillway {

class TokenSpool {
 public:
  // The file is made in `directory`, and has tokens below `vocab`. Throws Error(storage) if that
  // fails.
  TokenSpool(std::filesystem::path directory, std::int64_t vocab);

  // These throw Error(storage) if the file cannot be written or read.
  void append(std::span<std::int32_t const> tokens);
  // Reads tokens from number `first` on, as many as fit, into `tokens`. Returns how many.
  std::size_t read(std::int64_t first, std::span<std::int32_t> tokens) const;
  std::int64_t count() const { return m_count; }

 private:
  std::filesystem::path m_directory;
  int m_token_bytes;
  FileDescriptor m_file;
  std::int64_t m_count = 0;
};

}  // namespace spillway
