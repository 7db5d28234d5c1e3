// The directory that holds everything a run writes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "io/file/file.hpp"
#include "job/owner_file.hpp"

namespace spillway {

// Throws Error(bad_input) when the directory could not be made, or written to; makes nothing.
void require_run_place(std::filesystem::path const& path);

// Creates the directory and holds `lock` in it while alive (or, where the file system has no locks,
// `lock.owner`). Throws Error(bad_input) when it cannot be written or another running job holds it.
// One rank only.
class RunDir {
 public:
  explicit RunDir(std::filesystem::path path);

  // Throws Error(bad_input) when another job has taken the directory over, as known at the last
  // renewal of `lock.owner`: for every step, makes no system call.
  void require_ours() const;
  // As require_ours(), but asks the file system: before what replaces files of the directory. A
  // `lock` that somebody has removed or replaced is made and held anew, with a warning.
  void require_ours_now();

  std::filesystem::path const& path() const { return m_path; }
  // Replaces a text file of the directory (config.yaml, plan.txt, ...).
  void write(std::string const& name, std::string const& text) const;

 private:
  void take_lock();
  int write_lock() const;
  void hold_lock_there();
  [[noreturn]] void refuse_as_lost(char const* why) const;

  std::filesystem::path m_path;
  FileDescriptor m_lock;
  std::unique_ptr<OwnerFile> m_owner;  // without flock
};

}  // namespace spillway
