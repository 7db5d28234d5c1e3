// A directory that gets its name when all that belongs into it is there.
#pragma once

#include <filesystem>
#include <functional>

#include "io/file/file.hpp"
#include "io/file/partial.hpp"

namespace spillway {

// Until `publish` it is called <path>.spillway-partial, as nothing of a user's is; what somebody
// who was killed has left under such names is removed, or put back, first. Whoever goes without
// `publish` removes it, and so does a signal (io/file/partial.hpp). It is locked meanwhile (flock),
// where the file system can do it.
class NewDirectory {
 public:
  // Whether a directory that is there already may be replaced.
  using MayReplace = std::function<bool(std::filesystem::path const& directory)>;

  // Throws Error: bad_input where `path` is there already, is no empty directory and may not be
  // replaced, or another process is writing it, storage where nothing can be made there.
  explicit NewDirectory(std::filesystem::path const& path, MayReplace may_replace = {});
  NewDirectory(NewDirectory const&) = delete;
  NewDirectory& operator=(NewDirectory const&) = delete;

  std::filesystem::path const& path() const { return m_partial.path(); }
  // Synchronises its entries, whose contents are on storage, and gives it its name; what had the
  // name is removed then. Throws Error: storage, or as the constructor does.
  void publish();

 private:
  std::filesystem::path m_path;
  MayReplace m_may_replace;
  FileDescriptor m_lock;
  Partial m_partial;
};

}  // namespace spillway
