// Reports how much memory the process uses, and how much memory and how many cores it may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/control_group.hpp"

namespace spillway {

struct ProcessMemory {
  std::int64_t resident_bytes = 0;       // the value VmRSS of /proc/self/status
  std::int64_t peak_resident_bytes = 0;  // the value VmHWM of /proc/self/status
};
// Returns zeros if /proc/self/status cannot be read.
ProcessMemory process_memory();

// MainMemory is the main memory of a node, which its ranks share, or what the process's control
// groups allow of it. total_bytes does not count swap, because arenas cannot lie there.
// available_bytes can be taken without anything being killed or swapped.
struct MainMemory {
  std::int64_t total_bytes = 0, available_bytes = 0;
};
MainMemory main_memory();
// Computes a MainMemory from a file in the format of /proc/meminfo and from limits of control
// groups. Tests pass files and limits of their own.
MainMemory main_memory(std::filesystem::path const& meminfo, ControlGroupLimits const& limits);
std::int64_t available_memory_bytes();

// Returns how many cores this process may use: as many as its affinity has or, if that is less, as
// its control groups have quota for, but at least 1.
int available_cores();
// Returns the smaller one of `affinity`, a number of cores, and `quota`, rounded down, but at least
// 1. Without a quota, `affinity` alone counts.
int available_cores(int affinity, std::optional<double> quota);

}  // namespace spillway
