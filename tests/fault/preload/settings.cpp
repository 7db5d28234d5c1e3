#include "settings.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace spillway::planted {
namespace {

constexpr auto kCalls = static_cast<unsigned>(Call::count);
constexpr std::array<char const*, kCalls> kNames = {
    "write", "pwrite", "pread", "fsync",     "fdatasync", "close", "rename",
    "mkdir", "unlink", "rmdir", "ftruncate", "fallocate", "flock", "open"};
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
  settings.after = std::getenv("SPILLWAY_FAULT_AFTER");
  settings.count_file = std::getenv("SPILLWAY_FAULT_COUNT");
  settings.shortens = std::getenv("SPILLWAY_FAULT_SHORT") != nullptr;
  settings.exchanges = std::getenv("SPILLWAY_FAULT_NO_EXCHANGE") == nullptr;
  if (auto const* stride = std::getenv("SPILLWAY_FAULT_STRIDE"))
    settings.stride = std::atol(stride);
  if (auto const* range = std::getenv("SPILLWAY_FAULT_AT")) read_range(range, settings);
  if (auto const* what = std::getenv("SPILLWAY_FAULT_DO")) {
    settings.kills = std::strcmp(what, "kill") == 0;
    settings.hangs = std::strcmp(what, "hang") == 0;
    settings.stops = std::strcmp(what, "stop") == 0;
    if (!settings.kills && !settings.hangs && !settings.stops) settings.error = errno_of(what);
  }
  return settings;
}

}  // namespace

Settings const& settings() {
  static Settings const read = read_settings();
  return read;
}

char const* name(Call call) {
  return kNames[static_cast<unsigned>(call)];
}

}  // namespace spillway::planted
