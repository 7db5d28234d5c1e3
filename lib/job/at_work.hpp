// Finds out whether a job is at work in a run directory, for commands that only look at it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace spillway {

struct AtWork {
  std::optional<bool> works = {};  // empty if that cannot be seen from here
  std::string who = {};  // the job's process, such as "pid 4242"; empty if nobody is known
};

// Looks at `lock` and, where the file system has no locks, at `lock.owner` (job/run_dir.hpp). Holds
// a shared lock for a moment, for which a job that begins waits. Throws nothing.
AtWork at_work(std::filesystem::path const& run_dir);

}  // namespace spillway
