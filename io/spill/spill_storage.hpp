// The file below a SpillFile: without a name, its space taken at once, open for direct I/O where
// that works.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/file/file.hpp"

namespace spillway {

// Throws Error(bad_input) when no spill file can be made in `directory`.
void require_spill_place(std::filesystem::path const& directory);

class SpillStorage {
 public:
  // Throws Error: cannot_fit when there is no such space (needed and free bytes are named),
  // bad_input when `directory` cannot be used.
  SpillStorage(std::filesystem::path const& directory, std::int64_t size_bytes);

  static constexpr std::size_t kPageBytes = 4096;  // what direct I/O takes, in memory and file

  int file() const { return m_file.get(); }
  // A descriptor of the same file that goes past the page cache, in whole pages; -1: none.
  int direct() const { return m_direct.get(); }
  std::vector<std::string> const& advice() const { return m_advice; }

 private:
  void open_direct(std::filesystem::path const& directory);

  FileDescriptor m_file, m_direct;
  std::vector<std::string> m_advice;
};

}  // namespace spillway
