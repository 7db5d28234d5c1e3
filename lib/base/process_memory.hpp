// Reports how much memory the process uses, and how much memory and how many cores it may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/control_group.hpp"

namespace spillway {

struct ProcessMemory {
  std::int64_t resident_bytes = 0;       // from the line VmRSS of the file
  std::int64_t peak_resident_bytes = 0;  // from the line VmHWM of the file
};
// Reads /proc/self/status. Returns zeros if there is no such file.
ProcessMemory process_memory();

// MainMemory describes the main memory that the ranks of a node share, less where a control group
// (v1 or v2, any ancestor) limits it. The total, MemTotal, is without swap, because arenas cannot
// lie there. What is available, MemAvailable, can be taken before something is killed or swapped.
struct MainMemory {
  std::int64_t total_bytes = 0, available_bytes = 0;
};
MainMemory main_memory();
// Returns the MainMemory that the file `meminfo`, with the format of /proc/meminfo, and `limits`
// describe. Tests call it.
MainMemory main_memory(std::filesystem::path const& meminfo, ControlGroupLimits const& limits);
std::int64_t available_memory_bytes();

// Returns how many cores this process may use: those of its affinity, or fewer if a control group
// has a quota of time on cores, but at least 1.
int available_cores();
// Returns the smaller one of the number of cores in an affinity and a quota of cores, at least 1.
// Without a quota the affinity alone counts.
int available_cores(int affinity, std::optional<double> quota);

}  // namespace spillway
