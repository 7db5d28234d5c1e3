// A RunDir is the directory that holds everything a run writes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "io/file/file.hpp"
#include "job/owner_file.hpp"

namespace spillway {

// Throws Error(bad_input) if the directory could not be created or written. Creates nothing.
void require_run_place(std::filesystem::path const& path);

// Creates the directory and holds `lock` in it as long as this object exists or, if the file system
// has no locks, `lock.owner`. Throws Error(bad_input) if the directory cannot be written, or if
// another running job holds it. Only one rank makes a RunDir.
class RunDir {
 public:
  explicit RunDir(std::filesystem::path path);
  // Removes the lock and the directories that it has made, if nothing else has come there.
  ~RunDir();
  RunDir(RunDir&&) = default;

  // Throws Error(bad_input) if another job has taken the directory over, as far as the last renewal
  // of `lock.owner` has shown. Makes no system call, so that it can be called in every step.
  void require_ours() const;
  // Asks the file system, and throws Error(bad_input) if another job has taken the directory over.
  // Call it before files of the directory are replaced. If `lock` was removed or replaced, it is
  // created and locked again, with a warning.
  void require_ours_now();

  // Asks the file system whether `lock`, or `lock.owner`, is still this job's.
  bool is_ours_now() const;

  std::filesystem::path const& path() const { return m_path; }
  // Replaces a text file in the directory (config.yaml, plan.txt, ...).
  void write(std::string const& name, std::string const& text) const;

 private:
  void make();
  void take_lock();
  int write_lock() const;
  void hold_lock_there();
  [[noreturn]] void refuse_as_lost(char const* why) const;

  std::filesystem::path m_path;
  std::vector<std::filesystem::path> m_made;  // the outermost first
  bool m_made_lock = false;
  FileDescriptor m_lock;
  std::unique_ptr<OwnerFile> m_owner;  // null if the file system has flock
};

}  // namespace spillway
