// What the process takes of the machine, and what the machine has left for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/control_group.hpp"

namespace spillway {

struct ProcessMemory {
  std::int64_t resident_bytes = 0;       // VmRSS
  std::int64_t peak_resident_bytes = 0;  // VmHWM
};
// From /proc/self/status; zeros where there is none.
ProcessMemory process_memory();

// Main memory, which the ranks of a node share: all of it (MemTotal; no swap, in which no arena can
// lie) and what this process may still take before something is killed or swapped (MemAvailable),
// or less where a control group (v1 or v2, any ancestor) limits it.
struct MainMemory {
  std::int64_t total_bytes = 0, available_bytes = 0;
};
MainMemory main_memory();
// The same of other files; for tests.
MainMemory main_memory(std::filesystem::path const& meminfo, ControlGroupLimits const& limits);
std::int64_t available_memory_bytes();  // main_memory's

// Cores this process may use: its affinity, or less where a control group has a quota. At least 1.
int available_cores();
// Returns what the two limits leave; no quota: the affinity alone counts.
int available_cores(int affinity, std::optional<double> quota);

}  // namespace spillway
