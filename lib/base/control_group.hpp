// Reads the limits that Linux control groups, version 1 or 2, set on this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace spillway {

struct ControlGroupLimits {
  std::optional<std::int64_t> memory_bytes;  // empty if there is no limit
  // How much of memory_bytes is not in use. Inactive page cache does not count as in use.
  std::optional<std::int64_t> memory_left_bytes;
  std::optional<double> cores;  // the CPU quota divided by its period; empty if there is no quota
};

// Returns the tightest limits of the process's group and all its ancestors. `mount` is where
// control groups are mounted, and `self` the file that names the process's groups. Tests pass paths
// of their own.
ControlGroupLimits control_group_limits(std::filesystem::path const& mount = "/sys/fs/cgroup",
                                        std::filesystem::path const& self = "/proc/self/cgroup");

}  // namespace spillway
