// A directory that gets its name when all that belongs into it is there.
#pragma once

#include <filesystem>

#include "io/file/file.hpp"

namespace spillway {

// Until `publish` it is called <path>.spillway-partial, as nothing of a user's is; one of that
// name, of somebody who was killed, is removed first. Whoever goes without `publish` removes it.
// It is locked meanwhile (flock), where the file system can do it.
class NewDirectory {
 public:
  // Throws Error: bad_input where `path` is there already and is no empty directory or another
  // process is writing it, storage where nothing can be made there.
  explicit NewDirectory(std::filesystem::path const& path);
  NewDirectory(NewDirectory const&) = delete;
  NewDirectory& operator=(NewDirectory const&) = delete;
  ~NewDirectory();

  std::filesystem::path const& path() const { return m_unfinished; }
  // Synchronises its entries, whose contents are on storage, and gives it its name. Throws
  // Error(storage).
  void publish();

 private:
  std::filesystem::path m_path, m_unfinished;
  FileDescriptor m_lock;
  bool m_published = false;
};

}  // namespace spillway
