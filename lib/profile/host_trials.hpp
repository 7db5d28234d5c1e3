// Chooses the numbers of threads with which the host lane is measured, and the best of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spillway {

struct HostTrials {
  std::vector<std::int64_t> threads = {1};  // the numbers of threads to try, in rising order
  bool beside_compute = false;              // true if the compute lane is busy meanwhile
};

// Returns the trial of `asked` threads if that is given. Otherwise returns the trial of one thread
// if the compute lane runs on the same cores (`on_host`), or the trials of 1, 2, 4, ..., `cores` -
// 1 threads beside a device.
HostTrials host_trials(std::optional<std::int64_t> asked, std::int64_t cores, bool on_host);

// Returns what precedes an op's key on the host lane, such as "host " or "host 4 ".
std::string host_prefix(std::int64_t threads);

// Returns the fewest threads that are nearly as fast as the best. `seconds` has the time of each
// trial, 0 if it is not known. Returns the first trial's threads if none is known.
std::int64_t best_threads(HostTrials const& trials, std::span<double const> seconds);

}  // namespace spillway
