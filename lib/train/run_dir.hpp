// The directory that holds everything a run writes.
#pragma once

#include <filesystem>
#include <string>

#include "io/file/file.hpp"

namespace spillway {

// Throws Error(bad_input) when the directory could not be made, or written to; makes nothing.
void require_run_place(std::filesystem::path const& path);

// Creates the directory and holds `lock` in it while alive. Throws Error(bad_input) when it cannot
// be written or another running job holds the lock. One rank only.
class RunDir {
 public:
  explicit RunDir(std::filesystem::path path);

  std::filesystem::path const& path() const { return m_path; }
  // Replaces a text file of the directory (config.yaml, plan.txt, ...).
  void write(std::string const& name, std::string const& text) const;

 private:
  std::filesystem::path m_path;
  FileDescriptor m_lock;
};

}  // namespace spillway
