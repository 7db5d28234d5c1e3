#include "io/file/file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/log.hpp"
#include "io/file/destination.hpp"
#include "io/file/output_file.hpp"
#include "io/file/path_names.hpp"

namespace spillway {
namespace {

// Calls `transfer(done)`, which moves bytes from number `done` on by pread or pwrite, until all
// bytes are moved, the file ends, or an error occurs.
template <class F>
TransferResult continue_until_done(std::size_t total, F transfer) noexcept {
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

bool is_directory(FileDescriptor const& file) {
  struct stat info {};
  return ::fstat(file.get(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool means_not_supported(int error) {
  return error == EINVAL || error == ENOSYS || error == ENOTSUP || error == EOPNOTSUPP;
}

[[noreturn]] void fail(Status status, std::filesystem::path const& path, char const* what) {
  int const error = errno;
  throw Error(status, fmt::format("{}: {}: {}", path.string(), what, error_text(error)));
}

}  // namespace

TransferResult read_fully(int fd, std::span<std::byte> to, std::int64_t offset_bytes) noexcept {
  return continue_until_done(to.size(), [&](std::size_t done) {
    return ::pread(fd, to.data() + done, to.size() - done,
                   offset_bytes + static_cast<std::int64_t>(done));
  });
}

TransferResult write_fully(int fd, std::span<std::byte const> from,
                           std::int64_t offset_bytes) noexcept {
  return continue_until_done(from.size(), [&](std::size_t done) {
    return ::pwrite(fd, from.data() + done, from.size() - done,
                    offset_bytes + static_cast<std::int64_t>(done));
  });
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

bool is_named(FileDescriptor const& file, std::filesystem::path const& path) noexcept {
  struct stat ours {};
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) return errno != ENOENT;
  if (::fstat(file.get(), &ours) != 0) return true;
  return is_same_file(ours, there);
}

std::int64_t free_bytes(std::filesystem::path const& directory) {
  struct statvfs info {};
  if (::statvfs(directory.c_str(), &info) != 0) {
    fail(Status::bad_input, directory, "cannot be examined");
  }
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

void require_free_bytes(std::filesystem::path const& directory, std::int64_t needed_bytes,
                        char const* what) {
  auto const free = free_bytes(directory);
  if (needed_bytes <= free) return;
  throw Error(Status::bad_input,
              fmt::format("{}: {} needs {} bytes, {} are free: free some space, or choose another "
                          "directory",
                          directory.string(), what, needed_bytes, free));
}

void sync_path(std::filesystem::path const& path) {
  FileDescriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file && ::fsync(file.get()) == 0) return;
  int const error = errno;
  if (!file || !is_directory(file) || !means_not_supported(error)) {
    errno = error;
    fail(Status::storage, path, "cannot be synchronised");
  }
  static std::once_flag said;
  std::call_once(said, [&] {
    log_warning(
        "{}: this file system cannot synchronise directories ({}): what was renamed last "
        "may be lost if the machine dies",
        path.string(), error_text(error));
  });
}

void make_directories(std::filesystem::path const& path) {
  struct stat info {};
  if (path.empty() || (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))) return;
  auto const parent = directory_of(path);
  if (parent != path) make_directories(parent);
  int const error = ::mkdir(path.c_str(), 0777) == 0 ? 0 : errno;
  bool const there = error == EEXIST && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  errno = error;
  if (error != 0 && !there) fail(Status::storage, path, "cannot be created");
  sync_path(parent);
}

std::filesystem::path prepared_path(std::filesystem::path const& path) {
  return std::filesystem::path(path) += ".partial";
}

void prepare_text(std::filesystem::path const& path, std::string_view text) {
  auto const prepared = prepared_path(path);
  try {
    write_file(prepared, text);
  } catch (Error const&) {
    ::unlink(prepared.c_str());
    throw;
  }
}

void publish_text(std::filesystem::path const& path) {
  if (::rename(prepared_path(path).c_str(), path.c_str()) != 0)
    fail(Status::storage, path, "cannot be replaced");
  sync_path(directory_of(path));
}

void replace_text(std::filesystem::path const& path, std::string_view text) {
  prepare_text(path, text);
  try {
    publish_text(path);
  } catch (Error const&) {
    ::unlink(prepared_path(path).c_str());
    throw;
  }
}

}  // namespace spillway
