#include "base/process_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "base/affinity.hpp"

namespace spillway {
namespace {

// Returns the number of bytes that a line such as "VmRSS:   1234 kB" of a file under /proc gives
// for `key`, or 0 if there is no such line.
std::int64_t kilobytes_after(std::filesystem::path const& path, std::string const& key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::int64_t kilobytes = 0;
    if (word == key && file >> kilobytes) return kilobytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

int cores_by_affinity() {
  auto const cores = allowed_cores().size();
  return static_cast<int>(cores > 0 ? cores : std::thread::hardware_concurrency());
}

}  // namespace

ProcessMemory process_memory() {
  constexpr auto status = "/proc/self/status";
  return {kilobytes_after(status, "VmRSS:"), kilobytes_after(status, "VmHWM:")};
}

MainMemory main_memory(std::filesystem::path const& meminfo, ControlGroupLimits const& limits) {
  auto const total = kilobytes_after(meminfo, "MemTotal:");
  auto const available = kilobytes_after(meminfo, "MemAvailable:");
  return {std::min(total, limits.memory_bytes.value_or(total)),
          std::min(available, limits.memory_left_bytes.value_or(available))};
}

MainMemory main_memory() {
  return main_memory("/proc/meminfo", control_group_limits());
}

std::int64_t available_memory_bytes() {
  return main_memory().available_bytes;
}

int available_cores(int affinity, std::optional<double> quota) {
  bool const is_less = quota && *quota < affinity;  // the quota may be too large for an int
  return std::max(1, is_less ? static_cast<int>(*quota) : affinity);
}

int available_cores() {
  return available_cores(cores_by_affinity(), control_group_limits().cores);
}

}  // namespace spillway
