#include "io/file/destination.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/number.hpp"
#include "io/file/file.hpp"
#include "io/file/path_names.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// Returns N if the path is /proc/self/fd/N or another name of it, such as /dev/fd/N, and nothing
// for other paths.
std::optional<int> own_descriptor(fs::path const& path) {
  std::error_code failed;
  auto const directory = fs::canonical(directory_of(path), failed);
  if (failed || directory != fs::canonical("/proc/self/fd", failed)) return {};
  return to_number<int>(path.filename().string());
}

}  // namespace

bool Destination::is_written_through() const {
  auto const kind = info.st_mode & S_IFMT;
  return descriptor || kind == S_IFCHR || kind == S_IFIFO || kind == S_IFBLK;
}

Destination destination_of(fs::path const& path) {
  constexpr int most_links = 40;  // as many links as Linux follows
  Destination to{path, {}};
  std::error_code failed;
  for (int i = 0; i < most_links; ++i) {
    to.descriptor = own_descriptor(to.path);
    if (to.descriptor || !fs::is_symlink(to.path, failed)) break;
    auto const target = fs::read_symlink(to.path, failed);
    if (failed) break;
    to.path = target.is_absolute() ? target : directory_of(to.path) / target;
  }
  auto const seen =
      to.descriptor ? ::fstat(*to.descriptor, &to.info) : ::stat(to.path.c_str(), &to.info);
  to.exists = seen == 0;
  if (!to.exists && (errno != ENOENT || to.descriptor))
    throw Error(Status::bad_input,
                fmt::format("{}: cannot be created: {}", path.string(), error_text(errno)));
  return to;
}

bool is_same_file(struct stat const& one, struct stat const& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace spillway
