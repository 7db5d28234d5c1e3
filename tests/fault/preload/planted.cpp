#include "planted.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "settings.hpp"

// Calls of its own go to the kernel directly: what is counted must not be counted again.
namespace spillway::planted {
namespace {

using Text = std::array<char, 3 * PATH_MAX>;

void append(Text& text, char const* more) {
  auto const used = std::strlen(text.data());
  std::snprintf(text.data() + used, text.size() - used, "%s", more);
}

// The path behind a link of /proc, with a slash: of a descriptor, or the working directory.
void append_link(Text& text, int fd) {
  std::array<char, 64> link{};
  std::array<char, PATH_MAX> target{};
  std::snprintf(link.data(), link.size(), fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d",
                fd);
  syscall(SYS_readlinkat, AT_FDCWD, link.data(), target.data(), target.size() - 1);
  append(text, target.data());
}

void append_path(Text& text, int directory, char const* path) {
  if (path[0] != '/') {
    append_link(text, directory);
    append(text, "/");
  }
  append(text, path);
}

void describe(Text& text, Subject const& subject) {
  if (subject.path == nullptr) return append_link(text, subject.fd);
  append_path(text, subject.fd, subject.path);
  if (subject.second_path == nullptr) return;
  append(text, " -> ");
  append_path(text, subject.fd, subject.second_path);
}

std::atomic<bool> has_said{false};

bool is_directory(Subject const& subject) {
  struct stat info {};
  int const failed = subject.path == nullptr ? ::fstat(subject.fd, &info)
                                             : ::fstatat(subject.fd, subject.path, &info, 0);
  return failed == 0 && S_ISDIR(info.st_mode);
}

void write_down(char const* file, Call call, Text const& about) {
  Text line{};
  append(line, name(call));
  append(line, " ");
  append(line, about.data());
  append(line, "\n");
  auto const fd = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0644);
  syscall(SYS_write, fd, line.data(), std::strlen(line.data()));
  syscall(SYS_close, fd);
}

// Whether the call is one that is counted; its number is then the next.
bool counts(Call call, Subject const& subject) {
  auto const& set = settings();
  if (set.after != nullptr && !has_said) return false;
  Text about{};
  describe(about, subject);
  if (set.path != nullptr && std::strstr(about.data(), set.path) == nullptr) return false;
  if (set.kind != nullptr && is_directory(subject) != (std::strcmp(set.kind, "directory") == 0))
    return false;
  static std::atomic<long> transfers{0};
  bool const transfer = call <= Call::pread;
  if (transfer && ++transfers % set.stride != 0) return false;
  if (set.count_file != nullptr) write_down(set.count_file, call, about);
  return true;
}

int decide(Call call, Subject const& subject) {
  auto const& set = settings();
  if ((set.calls & 1u << static_cast<unsigned>(call)) == 0 || !counts(call, subject)) return 0;
  static std::atomic<long> number{0};
  auto const here = ++number;
  if (here < set.first || here > set.last) return 0;
  if (set.kills) syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
  if (set.stops) syscall(SYS_kill, syscall(SYS_getpid), SIGUSR1);
  while (set.kills || set.hangs) ::pause();
  return set.error;
}

}  // namespace

int fate(Call call, Subject const& subject) {
  int const before = errno;
  int const error = decide(call, subject);
  errno = before;
  return error;
}

void note_said(void const* bytes, std::size_t size) {
  auto const* const text = settings().after;
  if (text != nullptr && ::memmem(bytes, size, text, std::strlen(text)) != nullptr) has_said = true;
}

std::size_t short_length(std::size_t bytes) {
  static std::atomic<bool> was_short{false};
  if (!settings().shortens || bytes < 2) return 0;
  return was_short.exchange(!was_short) ? 0 : bytes / 2;
}

}  // namespace spillway::planted
