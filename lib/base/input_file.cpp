#include "base/input_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <span>

#include "base/cannot_give.hpp"
#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/units.hpp"

namespace spillway {
namespace {

[[noreturn]] void refuse(std::filesystem::path const& path, std::string const& why) {
  throw Error(Status::bad_input, fmt::format("{}: {}", path.string(), why));
}

[[noreturn]] void refuse(std::filesystem::path const& path, char const* what, int error) {
  auto const* const advice = error == EMFILE ? "; `ulimit -n` says how many, and raises it" : "";
  refuse(path, fmt::format("{}: {}{}", what, error_text(error), advice));
}

void require_regular(std::filesystem::path const& path, struct stat const& info) {
  if (S_ISREG(info.st_mode)) return;
  auto const* const kind = S_ISDIR(info.st_mode)    ? "a directory"
                           : S_ISFIFO(info.st_mode) ? "a pipe"
                           : S_ISSOCK(info.st_mode) ? "a socket"
                                                    : "a device";
  refuse(path, fmt::format("is {}, not a file", kind));
}

bool is_the_shells(std::filesystem::path const& path) {
  auto const text = path.string();
  return text == "/dev/stdin" || text.starts_with("/dev/fd/") || text.starts_with("/proc/self/fd/");
}

// Reads at most to.size() bytes and returns their number, which is 0 at the end of the file.
std::size_t read_some(int fd, std::span<char> to, std::filesystem::path const& path) {
  while (true) {
    auto const got = ::read(fd, to.data(), to.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) refuse(path, "cannot be read", errno);
  }
}

// Returns the size of a regular file, or 0 if the file is not regular, since its size is not known.
std::int64_t size_bytes(FileDescriptor const& file) {
  struct stat info {};
  return ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : 0;
}

FileDescriptor open_what_the_shell_has(std::filesystem::path const& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) refuse(path, "cannot be read", errno);
  return file;
}

}  // namespace

void close_descriptor(int fd) noexcept {
  ::close(fd);
}

void require_regular(FileDescriptor const& file, std::filesystem::path const& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) refuse(path, "cannot be read", errno);
  require_regular(path, info);
}

// The path is checked before the file is opened, because opening a device may already have an
// effect, and the opened file is checked too, because the path may name another file by then.
FileDescriptor open_for_reading(std::filesystem::path const& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) refuse(path, "cannot be read", errno);
  require_regular(path, info);
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) refuse(path, "cannot be read", errno);
  require_regular(file, path);
  ::fcntl(file.get(), F_SETFL, 0);  // clears O_NONBLOCK, which only open() needed
  return file;
}

std::string read_input(std::filesystem::path const& path, std::int64_t most_bytes) {
  auto const file = is_the_shells(path) ? open_what_the_shell_has(path) : open_for_reading(path);
  return read_input(file, path, most_bytes);
}

std::string read_input(FileDescriptor const& file, std::filesystem::path const& path,
                       std::int64_t most_bytes) {
  std::string text;
  std::array<char, 1 << 16> some;
  auto expected = std::min(size_bytes(file), most_bytes);
  try {
    text.reserve(static_cast<std::size_t>(expected));
    while (auto const size = read_some(file.get(), some, path)) {
      expected = std::max(expected, std::ssize(text) + static_cast<std::int64_t>(size));
      text.append(some.data(), size);
      if (std::ssize(text) > most_bytes)
        refuse(path, fmt::format("is larger than {}", human_bytes(most_bytes)));
    }
  } catch (std::bad_alloc const&) {
    throw cannot_give(path.string(), expected);
  }
  return text;
}

}  // namespace spillway
