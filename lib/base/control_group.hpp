// Limits that Linux control groups set on this process; version 1 and version 2.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace spillway {

struct ControlGroupLimits {
  std::optional<std::int64_t> memory_bytes;       // limit
  std::optional<std::int64_t> memory_left_bytes;  // limit - use, page cache counted as free
  std::optional<double> cores;                    // quota / period
};

// The tightest of the process's group and all its ancestors. `mount` is where the file systems lie
// and `self` the process's /proc/self/cgroup; other values are for tests.
ControlGroupLimits control_group_limits(std::filesystem::path const& mount = "/sys/fs/cgroup",
                                        std::filesystem::path const& self = "/proc/self/cgroup");

}  // namespace spillway
