#include "base/control_group.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace spillway {
namespace {

namespace fs = std::filesystem;

// Returns the first number in a file, or nothing if the file is missing or has text such as "max".
std::optional<std::int64_t> number_in(fs::path const& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// Returns the number after `key` in a file of lines "key number", or 0 if no line has the key.
std::int64_t number_after(fs::path const& path, std::string const& key) {
  std::ifstream file(path);
  std::string name;
  for (std::int64_t value = 0; file >> name >> value;) {
    if (name == key) return value;
  }
  return 0;
}

template <class T>
void tighten(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

void tighten_memory(ControlGroupLimits& limits, fs::path const& group, char const* limit_file,
                    char const* use_file, char const* reclaimable) {
  auto const limit = number_in(group / limit_file);
  auto const use = number_in(group / use_file);
  // Version 1 of control groups writes a number near 2^63 for "no limit".
  if (!limit || *limit > (std::int64_t{1} << 60)) return;
  tighten(limits.memory_bytes, *limit);
  if (!use) return;
  auto const cache = number_after(group / "memory.stat", reclaimable);
  tighten(limits.memory_left_bytes,
          std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *use - cache)));
}

void tighten_cores(ControlGroupLimits& limits, double quota, double period) {
  if (quota > 0 && period > 0) tighten(limits.cores, quota / period);
}

void read_version_2(ControlGroupLimits& limits, fs::path const& group) {
  tighten_memory(limits, group, "memory.max", "memory.current", "inactive_file");
  std::ifstream file(group / "cpu.max");
  double quota = 0, period = 0;
  if (file >> quota >> period) tighten_cores(limits, quota, period);
}

void read_version_1(ControlGroupLimits& limits, fs::path const& group) {
  tighten_memory(limits, group, "memory.limit_in_bytes", "memory.usage_in_bytes",
                 "total_inactive_file");
  auto const quota = number_in(group / "cpu.cfs_quota_us");
  auto const period = number_in(group / "cpu.cfs_period_us");
  if (quota && period) {
    tighten_cores(limits, static_cast<double>(*quota), static_cast<double>(*period));
  }
}

// Reads the limits of `group`, a path below `root`, and of all its ancestors up to `root` itself.
template <class Read>
void read_upwards(ControlGroupLimits& limits, fs::path const& root, fs::path group, Read read) {
  group = group.relative_path();
  for (;;) {
    read(limits, group.empty() ? root : root / group);
    if (group.empty()) return;
    group = group.parent_path();
  }
}

}  // namespace

ControlGroupLimits control_group_limits(fs::path const& mount, fs::path const& self) {
  ControlGroupLimits limits;
  std::ifstream file(self);
  // A line of the file `self` is "id:controllers:path". The line of version 2 has the id 0 and an
  // empty list of controllers.
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string id, controllers, path;
    std::getline(fields, id, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    if (controllers.empty()) {
      read_upwards(limits, mount, path, read_version_2);
      continue;
    }
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) {
      if (name == "memory" || name == "cpu") {
        read_upwards(limits, mount / name, path, read_version_1);
      }
    }
  }
  return limits;
}

}  // namespace spillway
