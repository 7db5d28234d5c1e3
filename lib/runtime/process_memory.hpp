// What the process takes of the machine, and what the machine has left for it.
#pragma once

#include <cstdint>

namespace spillway {

struct ProcessMemory {
  std::int64_t resident_bytes = 0;       // VmRSS
  std::int64_t peak_resident_bytes = 0;  // VmHWM
};
// From /proc/self/status; zeros where there is none.
ProcessMemory process_memory();

// Main memory this process may still take before something is killed or swapped: MemAvailable, or
// less where a control group (v1 or v2, any ancestor) limits it. Ranks of one node share it.
std::int64_t available_memory_bytes();

// Cores this process may use: its affinity, or less where a control group has a quota. At least 1.
int available_cores();

}  // namespace spillway
