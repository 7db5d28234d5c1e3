#include "io/file/file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/error.hpp"

namespace spillway {
namespace {

// Runs `transfer(done)` (a pread or pwrite of the rest) until all is done, an error, or the end.
template <class F>
Transfer continue_until_done(std::size_t total, F transfer) noexcept {
  std::size_t done = 0;
  while (done < total) {
    ssize_t const got = transfer(done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {static_cast<std::int64_t>(done), errno};
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return {static_cast<std::int64_t>(done), 0};
}

[[noreturn]] void fail(Status status, std::filesystem::path const& path, char const* what) {
  int const error = errno;
  throw Error(status, fmt::format("{}: {}: {}", path.string(), what, error_text(error)));
}

}  // namespace

void close_descriptor(int fd) noexcept {
  ::close(fd);
}

Transfer read_fully(int fd, std::span<std::byte> to, std::int64_t offset_bytes) noexcept {
  return continue_until_done(to.size(), [&](std::size_t done) {
    return ::pread(fd, to.data() + done, to.size() - done,
                   offset_bytes + static_cast<std::int64_t>(done));
  });
}

Transfer write_fully(int fd, std::span<std::byte const> from, std::int64_t offset_bytes) noexcept {
  return continue_until_done(from.size(), [&](std::size_t done) {
    return ::pwrite(fd, from.data() + done, from.size() - done,
                    offset_bytes + static_cast<std::int64_t>(done));
  });
}

FileDescriptor open_for_reading(std::filesystem::path const& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) fail(Status::bad_input, path, "cannot be opened");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail(Status::bad_input, path, "cannot be examined");
  if (S_ISDIR(info.st_mode)) {
    throw Error(Status::bad_input, fmt::format("{}: is a directory, not a file", path.string()));
  }
  return file;
}

FileDescriptor open_without_name(std::filesystem::path const& directory, int flags) noexcept {
  FileDescriptor file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600));
  if (file || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  auto name = (directory / "spillway-XXXXXX").string();
  file = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC | flags));
  int const error = errno;
  if (file) ::unlink(name.c_str());
  errno = error;
  return file;
}

std::int64_t size_bytes(FileDescriptor const& file, std::filesystem::path const& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail(Status::storage, path, "cannot be examined");
  return info.st_size;
}

std::int64_t free_bytes(std::filesystem::path const& directory) {
  struct statvfs info {};
  if (::statvfs(directory.c_str(), &info) != 0) {
    fail(Status::bad_input, directory, "cannot be examined");
  }
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

void sync_path(std::filesystem::path const& path) {
  FileDescriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) fail(Status::storage, path, "cannot be synchronised");
}

void replace_text(std::filesystem::path const& path, std::string_view text) {
  auto const temporary = std::filesystem::path(path) += ".partial";
  FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) fail(Status::storage, temporary, "cannot be created");
  auto const written = write_fully(file.get(), std::as_bytes(std::span(text)), 0);
  errno = written.error;
  if (written.error != 0) fail(Status::storage, temporary, "cannot be written");
  if (::fsync(file.get()) != 0) fail(Status::storage, temporary, "cannot be synchronised");
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    fail(Status::storage, path, "cannot be replaced");
  auto const parent = path.parent_path();
  sync_path(parent.empty() ? "." : parent);
}

std::string error_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace spillway
