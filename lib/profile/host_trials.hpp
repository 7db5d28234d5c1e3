// With how many threads the host lane is measured, and how many it then has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spillway {

struct HostTrials {
  std::vector<std::int64_t> threads = {1};  // rising
  bool beside_compute = false;              // the compute lane is busy meanwhile
};

// What was asked for. Else, where the compute lane runs on the same cores, one thread; beside a
// device 1, 2, 4, ... up to all `cores` but the one that launches.
HostTrials host_trials(std::optional<std::int64_t> asked, std::int64_t cores, bool on_host);

// What comes before an op's key: "host ", "host 4 ".
std::string host_prefix(std::int64_t threads);

// The fewest threads that are nearly as fast as any; `seconds` of each trial, 0: not known. The
// first where nothing is known.
std::int64_t best_threads(HostTrials const& trials, std::span<double const> seconds);

}  // namespace spillway
