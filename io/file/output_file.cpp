#include "io/file/output_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.hpp"
#include "base/error_text.hpp"

namespace spillway {
namespace {

[[noreturn]] void refuse(std::filesystem::path const& path, char const* what) {
  auto const why = error_text(errno);
  throw Error(Status::storage, fmt::format("{}: {}: {}", path.string(), what, why));
}

}  // namespace

OutputFile::OutputFile(FileDescriptor file, std::filesystem::path path)
    : m_file(std::move(file)), m_path(std::move(path)) {}

OutputFile OutputFile::create(std::filesystem::path const& path, mode_t mode) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) refuse(path, "cannot be replaced");
  FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file) refuse(path, "cannot be created");
  return {std::move(file), path};
}

OutputFile OutputFile::open(std::filesystem::path const& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) refuse(path, "cannot be opened for writing");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) refuse(path, "cannot be examined");
  if (!S_ISREG(info.st_mode))
    throw Error(Status::storage, fmt::format("{}: is not a regular file", path.string()));
  return {std::move(file), path};
}

void OutputFile::fail(char const* what, int error) const {
  errno = error;
  refuse(m_path, what);
}

void OutputFile::write(std::int64_t offset_bytes, std::span<std::byte const> bytes) {
  auto const written = write_fully(m_file.get(), bytes, offset_bytes);
  if (written.error != 0) fail("cannot be written", written.error);
  if (written.done_bytes != static_cast<std::int64_t>(bytes.size())) fail("cannot be written", EIO);
  m_not_begun_bytes += written.done_bytes;
  keep_storage_busy();
}

// After every 64 MiB, waits for the bytes that the last call handed to storage and hands over the
// bytes written since then. Errors are thrown here, since fsync may not report them again.
void OutputFile::keep_storage_busy() {
  constexpr std::int64_t window_bytes = 64 << 20;
  if (m_not_begun_bytes < window_bytes) return;
  m_not_begun_bytes = 0;
  constexpr auto flags = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE;
  if (::sync_file_range(m_file.get(), 0, 0, flags) == 0) return;
  bool const unable = errno == ENOSYS || errno == EINVAL || errno == ESPIPE;
  if (!unable || ::fsync(m_file.get()) != 0) fail("cannot be written", errno);
}

void OutputFile::close(Durable durable) {
  if (durable == Durable::yes && ::fsync(m_file.get()) != 0) fail("cannot be synchronised", errno);
  if (::close(m_file.release()) != 0) fail("cannot be closed", errno);
}

void write_file(std::filesystem::path const& path, std::string_view text, Durable durable,
                mode_t mode) {
  auto file = OutputFile::create(path, mode);
  file.write(0, std::as_bytes(std::span(text)));
  file.close(durable);
}

}  // namespace spillway
