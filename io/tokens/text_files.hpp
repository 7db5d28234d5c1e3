// The texts of which token files are made: one document in each file. Only for this folder's
// sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "io/file/file.hpp"

namespace spillway {

struct TextFile {
  std::filesystem::path path;
  std::int64_t size_bytes;
};

struct TextFiles {
  std::vector<TextFile> files;   // none is empty
  std::int64_t empty_files = 0;  // how many were left out
};

// Opens every input and finds its size, before anything is written. Throws Error(bad_input) if one
// cannot be read or has bytes though its size is 0, or if there is no byte at all.
TextFiles survey(std::span<std::filesystem::path const> files);

// A TextReader reads a file from its beginning to its end.
class TextReader {
 public:
  explicit TextReader(TextFile const& file);

  // Reads as many of the next bytes as fit. Returns how many, 0 at the end. Throws Error(bad_input)
  // that names the file if it cannot be read or has become shorter.
  std::size_t read(std::span<std::byte> to);

 private:
  TextFile m_file;
  FileDescriptor m_descriptor;
  std::int64_t m_at = 0;
};

}  // namespace spillway
