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
#include <cstdlib>
#include <cstring>

// Calls of its own go to the kernel directly: what is counted must not be counted again.
namespace spillway::planted {
namespace {

constexpr auto kCalls = static_cast<unsigned>(Call::count);
constexpr std::array<char const*, kCalls> kNames = {"write", "pwrite",    "fsync", "fdatasync",
                                                    "close", "rename",    "mkdir", "unlink",
                                                    "rmdir", "ftruncate", "flock", "open"};
struct Errno {
  char const* name;
  int value;
};
constexpr std::array kErrnos = {
    Errno{"EIO", EIO},       Errno{"ENOSPC", ENOSPC},          Errno{"EDQUOT", EDQUOT},
    Errno{"EACCES", EACCES}, Errno{"EINVAL", EINVAL},          Errno{"ENOSYS", ENOSYS},
    Errno{"ENOLCK", ENOLCK}, Errno{"EOPNOTSUPP", EOPNOTSUPP},  Errno{"EROFS", EROFS},
    Errno{"EINTR", EINTR},   Errno{"ESTALE", ESTALE},          Errno{"EMFILE", EMFILE},
    Errno{"EEXIST", EEXIST}, Errno{"EWOULDBLOCK", EWOULDBLOCK}};

struct Settings {
  unsigned calls = 0;  // a bit each
  char const* path = nullptr;
  char const* kind = nullptr;
  char const* count_file = nullptr;
  long stride = 1, first = 1, last = LONG_MAX;
  int error = 0;
  bool kills = false, shortens = false;
};

bool contains_word(char const* list, char const* word) {
  auto const length = std::strlen(word);
  for (auto const* at = list; at != nullptr; at = std::strchr(at, ',')) {
    if (*at == ',') ++at;
    if (std::strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == 0)) return true;
  }
  return false;
}

bool is_our_rank() {
  auto const* const wanted = std::getenv("SPILLWAY_FAULT_RANK");
  if (wanted == nullptr) return true;
  for (auto const* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (auto const* const here = std::getenv(name)) return std::strcmp(here, wanted) == 0;
  }
  return false;
}

// A misspelt name of a call or an errno must not make a test that cannot fail.
[[noreturn]] void refuse(char const* variable, char const* value) {
  std::fprintf(stderr, "planted faults: %s=%s means nothing\n", variable, value);
  std::abort();
}

unsigned calls_of(char const* list) {
  unsigned calls = 0;
  std::size_t known = 0;
  for (unsigned i = 0; i < kCalls; ++i) {
    if (!contains_word(list, kNames[i])) continue;
    calls |= 1u << i;
    known += std::strlen(kNames[i]) + 1;
  }
  if (known != std::strlen(list) + 1) refuse("SPILLWAY_FAULT_CALLS", list);
  return calls;
}

int errno_of(char const* name) {
  for (auto const& each : kErrnos)
    if (std::strcmp(each.name, name) == 0) return each.value;
  int const number = std::atoi(name);
  if (number <= 0) refuse("SPILLWAY_FAULT_DO", name);
  return number;
}

void read_range(char const* text, Settings& settings) {
  char* end = nullptr;
  settings.first = settings.last = std::strtol(text, &end, 10);
  if (*end == '-') settings.last = end[1] != 0 ? std::strtol(end + 1, &end, 10) : LONG_MAX;
  if (settings.first < 1 || settings.last < settings.first) refuse("SPILLWAY_FAULT_AT", text);
}

Settings read_settings() {
  Settings settings;
  auto const* const calls = std::getenv("SPILLWAY_FAULT_CALLS");
  if (calls == nullptr || !is_our_rank()) return settings;
  settings.calls = calls_of(calls);
  settings.path = std::getenv("SPILLWAY_FAULT_PATH");
  settings.kind = std::getenv("SPILLWAY_FAULT_KIND");
  settings.count_file = std::getenv("SPILLWAY_FAULT_COUNT");
  settings.shortens = std::getenv("SPILLWAY_FAULT_SHORT") != nullptr;
  if (auto const* stride = std::getenv("SPILLWAY_FAULT_STRIDE"))
    settings.stride = std::atol(stride);
  if (auto const* range = std::getenv("SPILLWAY_FAULT_AT")) read_range(range, settings);
  if (auto const* what = std::getenv("SPILLWAY_FAULT_DO")) {
    settings.kills = std::strcmp(what, "kill") == 0;
    if (!settings.kills) settings.error = errno_of(what);
  }
  return settings;
}

Settings const& settings() {
  static Settings const read = read_settings();
  return read;
}

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

bool is_directory(Subject const& subject) {
  struct stat info {};
  int const failed = subject.path == nullptr ? ::fstat(subject.fd, &info)
                                             : ::fstatat(subject.fd, subject.path, &info, 0);
  return failed == 0 && S_ISDIR(info.st_mode);
}

void write_down(char const* file, Call call, Text const& about) {
  Text line{};
  append(line, kNames[static_cast<unsigned>(call)]);
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
  Text about{};
  describe(about, subject);
  if (set.path != nullptr && std::strstr(about.data(), set.path) == nullptr) return false;
  if (set.kind != nullptr && is_directory(subject) != (std::strcmp(set.kind, "directory") == 0))
    return false;
  static std::atomic<long> transfers{0};
  bool const transfer = call == Call::write || call == Call::pwrite;
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
  if (set.kills) {
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    while (true) ::pause();
  }
  return set.error;
}

}  // namespace

int fate(Call call, Subject const& subject) {
  int const before = errno;
  int const error = decide(call, subject);
  errno = before;
  return error;
}

std::size_t short_length(std::size_t bytes) {
  static std::atomic<bool> was_short{false};
  if (!settings().shortens || bytes < 2) return 0;
  return was_short.exchange(!was_short) ? 0 : bytes / 2;
}

}  // namespace spillway::planted
