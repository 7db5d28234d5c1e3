#include "profile/host_trials.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace spillway {
namespace {

constexpr double kNearly = 1.05;  // a trial within this factor of the fastest is good enough

}  // namespace

HostTrials host_trials(std::optional<std::int64_t> asked, std::int64_t cores, bool on_host) {
  if (asked) return {{*asked}, !on_host};
  if (on_host) return {};
  auto const most = std::max<std::int64_t>(1, cores - 1);
  HostTrials trials{{}, true};
  for (std::int64_t threads = 1; threads < most; threads *= 2) trials.threads.push_back(threads);
  trials.threads.push_back(most);
  return trials;
}

std::string host_prefix(std::int64_t threads) {
  return threads == 1 ? "host " : fmt::format("host {} ", threads);
}

std::int64_t best_threads(HostTrials const& trials, std::span<double const> seconds) {
  double shortest_s = 0;
  for (double const s : seconds)
    if (s > 0 && (shortest_s == 0 || s < shortest_s)) shortest_s = s;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    if (seconds[i] > 0 && seconds[i] <= kNearly * shortest_s) return trials.threads[i];
  return trials.threads.front();
}

}  // namespace spillway
