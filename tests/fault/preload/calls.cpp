// The functions of libc that stand before its own when this library is preloaded. What is not to
// fail goes to the kernel as libc would send it.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "planted.hpp"
#include "settings.hpp"

using spillway::planted::Call;
using spillway::planted::fate;
using spillway::planted::note_said;
using spillway::planted::settings;
using spillway::planted::short_length;

namespace {

template <class... T>
long kernel(long number, T... arguments) {
  return ::syscall(number, arguments...);
}

int fail(int error) {
  errno = error;
  return -1;
}

template <class... T>
int unless(int error, long number, T... arguments) {
  return error != 0 ? fail(error) : static_cast<int>(kernel(number, arguments...));
}

int remove_at(int directory, char const* path, int flags) {
  auto const call = (flags & AT_REMOVEDIR) != 0 ? Call::rmdir : Call::unlink;
  return unless(fate(call, {directory, path}), SYS_unlinkat, directory, path, flags);
}

int rename_at(int from_directory, char const* from, int to_directory, char const* to,
              unsigned flags) {
  if ((flags & RENAME_EXCHANGE) != 0 && !settings().exchanges) return fail(EINVAL);
  return unless(fate(Call::rename, {from_directory, from, to}), SYS_renameat2, from_directory, from,
                to_directory, to, flags);
}

int make_directory(int directory, char const* path, mode_t mode) {
  return unless(fate(Call::mkdir, {directory, path}), SYS_mkdirat, directory, path, mode);
}

int open_at(int directory, char const* path, int flags, std::va_list rest) {
  bool const makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  unsigned const mode = makes ? va_arg(rest, unsigned) : 0;
  return unless(fate(Call::open, {directory, path}), SYS_openat, directory, path, flags, mode);
}

ssize_t write_at(int fd, void const* bytes, std::size_t size, off_t offset) {
  int const error = fate(Call::pwrite, {fd});
  if (error == 0) return kernel(SYS_pwrite64, fd, bytes, size, offset);
  auto const some = short_length(size);
  return some == 0 ? fail(error) : kernel(SYS_pwrite64, fd, bytes, some, offset);
}

ssize_t read_at(int fd, void* bytes, std::size_t size, off_t offset) {
  int const error = fate(Call::pread, {fd});
  return error != 0 ? fail(error) : kernel(SYS_pread64, fd, bytes, size, offset);
}

int truncate_to(int fd, off_t size) {
  return unless(fate(Call::ftruncate, {fd}), SYS_ftruncate, fd, size);
}

}  // namespace

extern "C" {

ssize_t write(int fd, void const* bytes, std::size_t size) {
  if (fd == STDERR_FILENO) note_said(bytes, size);
  int const error = fate(Call::write, {fd});
  if (error == 0) return kernel(SYS_write, fd, bytes, size);
  auto const some = short_length(size);
  return some == 0 ? fail(error) : kernel(SYS_write, fd, bytes, some);
}

ssize_t writev(int fd, iovec const* parts, int count) {
  int const error = fate(Call::write, {fd});
  return error != 0 ? fail(error) : kernel(SYS_writev, fd, parts, count);
}

ssize_t pwrite(int fd, void const* bytes, std::size_t size, off_t offset) {
  return write_at(fd, bytes, size, offset);
}
ssize_t pwrite64(int fd, void const* bytes, std::size_t size, off_t offset) {
  return write_at(fd, bytes, size, offset);
}

ssize_t pread(int fd, void* bytes, std::size_t size, off_t offset) {
  return read_at(fd, bytes, size, offset);
}
ssize_t pread64(int fd, void* bytes, std::size_t size, off_t offset) {
  return read_at(fd, bytes, size, offset);
}

int fsync(int fd) {
  return unless(fate(Call::fsync, {fd}), SYS_fsync, fd);
}
int fdatasync(int fd) {
  return unless(fate(Call::fdatasync, {fd}), SYS_fdatasync, fd);
}

// As on a network file system: the descriptor is closed, and the error is what is left of it.
int close(int fd) {
  int const error = fate(Call::close, {fd});
  int const closed = static_cast<int>(kernel(SYS_close, fd));
  return error != 0 ? fail(error) : closed;
}

int rename(char const* from, char const* to) noexcept {
  return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat(int from_directory, char const* from, int to_directory, char const* to) noexcept {
  return rename_at(from_directory, from, to_directory, to, 0);
}
int renameat2(int from_directory, char const* from, int to_directory, char const* to,
              unsigned flags) noexcept {
  return rename_at(from_directory, from, to_directory, to, flags);
}

int mkdir(char const* path, mode_t mode) noexcept {
  return make_directory(AT_FDCWD, path, mode);
}
int mkdirat(int directory, char const* path, mode_t mode) noexcept {
  return make_directory(directory, path, mode);
}

int unlink(char const* path) noexcept {
  return remove_at(AT_FDCWD, path, 0);
}
int unlinkat(int directory, char const* path, int flags) noexcept {
  return remove_at(directory, path, flags);
}
int rmdir(char const* path) noexcept {
  return remove_at(AT_FDCWD, path, AT_REMOVEDIR);
}
int remove(char const* path) noexcept {
  struct stat info {};
  bool const directory = ::lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
  return remove_at(AT_FDCWD, path, directory ? AT_REMOVEDIR : 0);
}

int ftruncate(int fd, off_t size) noexcept {
  return truncate_to(fd, size);
}
int ftruncate64(int fd, off_t size) noexcept {
  return truncate_to(fd, size);
}

int fallocate(int fd, int mode, off_t offset, off_t size) {
  return unless(fate(Call::fallocate, {fd}), SYS_fallocate, fd, mode, offset, size);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
  return unless(fate(Call::fallocate, {fd}), SYS_fallocate, fd, mode, offset, size);
}

int flock(int fd, int operation) noexcept {
  return unless(fate(Call::flock, {fd}), SYS_flock, fd, operation);
}

int open(char const* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  int const fd = open_at(AT_FDCWD, path, flags, rest);
  va_end(rest);
  return fd;
}
int open64(char const* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  int const fd = open_at(AT_FDCWD, path, flags, rest);
  va_end(rest);
  return fd;
}
int openat(int directory, char const* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  int const fd = open_at(directory, path, flags, rest);
  va_end(rest);
  return fd;
}
int openat64(int directory, char const* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  int const fd = open_at(directory, path, flags, rest);
  va_end(rest);
  return fd;
}

}  // extern "C"
