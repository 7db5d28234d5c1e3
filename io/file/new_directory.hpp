// A NewDirectory gets its name only when all that belongs in it is there.
#pragma once

#include <filesystem>
#include <functional>

#include "io/file/file.hpp"
#include "io/file/partial.hpp"

namespace spillway {

// Until `publish`, the directory is called <path>.spillway-partial and locked (flock), if the file
// system can do that. What a process left there when it was killed is first removed or, if it was
// moved aside to be replaced, put back. If `publish` is not called, the destructor removes the
// directory. A signal that ends the process removes the directory, too (io/file/partial.hpp).
class NewDirectory {
 public:
  // A MayReplace returns whether an existing directory that is not empty may be replaced.
  using MayReplace = std::function<bool(std::filesystem::path const& directory)>;

  // Throws Error: bad_input if `path` is there already, is not an empty directory and may not be
  // replaced, or if another process is writing it; storage if nothing can be made there.
  explicit NewDirectory(std::filesystem::path const& path, MayReplace may_replace = {});
  NewDirectory(NewDirectory const&) = delete;
  NewDirectory& operator=(NewDirectory const&) = delete;

  std::filesystem::path const& path() const { return m_partial.path(); }
  // Synchronises the directory's entries and gives it its name. What had the name before is then
  // removed. The contents of its files must be on storage already. Throws Error(storage), or what
  // the constructor throws.
  void publish();

 private:
  std::filesystem::path m_path;
  MayReplace m_may_replace;
  FileDescriptor m_lock;
  Partial m_partial;
};

}  // namespace spillway
