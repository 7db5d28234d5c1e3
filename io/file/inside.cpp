#include "io/file/inside.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "base/error.hpp"
#include "base/error_text.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(fs::path const& path, std::string const& why) {
  throw Error(Status::bad_input, fmt::format("{}: {}", path.string(), why));
}

[[noreturn]] void refuse_as_unreadable(fs::path const& path) {
  refuse(path, "cannot be read: " + error_text(errno));
}

fs::path link_to(FileDescriptor const& file) {
  return fmt::format("/proc/self/fd/{}", file.get());
}

// Returns the path of an open file with all links followed, or "" if the system does not tell it.
fs::path place_of(FileDescriptor const& file) {
  std::error_code unknown;
  return fs::read_symlink(link_to(file), unknown);
}

bool lies_below(fs::path const& folder, fs::path const& file) {
  auto const [end, rest] = std::ranges::mismatch(folder, file);
  return end == folder.end() && rest != file.end();
}

// A snapshot in a cache of the Hugging Face hub consists of links to files in the folder `blobs`.
// Returns that folder if `directory` is a snapshot, and otherwise nothing.
std::optional<fs::path> blobs_beside(fs::path const& directory) {
  auto const snapshots = directory.parent_path(), entry = snapshots.parent_path();
  bool const is_cached =
      snapshots.filename() == "snapshots" && entry.filename().string().starts_with("models--");
  return is_cached ? std::optional(entry / "blobs") : std::nullopt;
}

void require_inside(FileDescriptor const& folder, FileDescriptor const& file,
                    fs::path const& path) {
  auto const directory = place_of(folder), place = place_of(file);
  if (directory.empty() || place.empty())
    refuse(path, "is a link, and /proc, which says where it leads, is not there");
  auto const blobs = blobs_beside(directory);
  if (lies_below(directory, place) || (blobs && lies_below(*blobs, place))) return;
  refuse(path,
         fmt::format("leads out of its directory, to {}: put the file there instead of the link",
                     place.string()));
}

// The file is opened without reading (O_PATH) and checked first, because opening a device may
// already have an effect.
FileDescriptor open_linked(FileDescriptor const& folder, std::string const& name,
                           fs::path const& path) {
  FileDescriptor const found(::openat(folder.get(), name.c_str(), O_PATH | O_CLOEXEC));
  if (!found) refuse_as_unreadable(path);
  require_inside(folder, found, path);
  require_regular(found, path);
  return FileDescriptor(::open(link_to(found).c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

FileDescriptor open_inside(fs::path const& directory, std::string const& name) {
  auto const path = directory / name;
  auto const* const where = directory.empty() ? "." : directory.c_str();
  FileDescriptor const folder(::open(where, O_PATH | O_DIRECTORY | O_CLOEXEC));
  FileDescriptor const found(
      folder ? ::openat(folder.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1);
  struct stat info {};
  if (!found || ::fstat(found.get(), &info) != 0) refuse_as_unreadable(path);
  bool const is_link = S_ISLNK(info.st_mode);
  if (!is_link) require_regular(found, path);
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  auto file = is_link ? open_linked(folder, name, path)
                      : FileDescriptor(::openat(folder.get(), name.c_str(), flags));
  if (!file) refuse_as_unreadable(path);
  require_regular(file, path);
  return file;
}

std::string read_inside(fs::path const& directory, std::string const& name,
                        std::int64_t most_bytes) {
  return read_input(open_inside(directory, name), directory / name, most_bytes);
}

}  // namespace spillway
