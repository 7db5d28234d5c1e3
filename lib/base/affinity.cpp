#include "base/affinity.hpp"

#include <algorithm>
#include <cerrno>

namespace spillway {
namespace {

constexpr std::size_t kMostSets = 1024;  // a cpu_set_t has room for 1024 cores

int affinity_here(std::size_t bytes, cpu_set_t* set) {
  return sched_getaffinity(0, bytes, set) == 0 ? 0 : errno;
}

}  // namespace

std::vector<int> allowed_cores(TellAffinity const& tell) {
  std::vector<cpu_set_t> sets(1);
  auto const bytes = [&] { return sets.size() * sizeof(cpu_set_t); };
  int error = tell(bytes(), sets.data());
  while (error == EINVAL && sets.size() < kMostSets) {
    sets.assign(2 * sets.size(), {});
    error = tell(bytes(), sets.data());
  }
  std::vector<int> cores;
  if (error != 0) return cores;
  for (std::size_t core = 0; core < 8 * bytes(); ++core)
    if (CPU_ISSET_S(core, bytes(), sets.data())) cores.push_back(static_cast<int>(core));
  return cores;
}

std::vector<int> allowed_cores() {
  return allowed_cores(affinity_here);
}

void stay_on(std::span<int const> cores) {
  if (cores.empty()) return;
  auto const last = static_cast<std::size_t>(std::ranges::max(cores));
  std::vector<cpu_set_t> sets(last / CPU_SETSIZE + 1);
  auto const bytes = sets.size() * sizeof(cpu_set_t);
  for (auto const core : cores) CPU_SET_S(static_cast<std::size_t>(core), bytes, sets.data());
  sched_setaffinity(0, bytes, sets.data());
}

}  // namespace spillway
