// Hands out numbered units of work to the host's threads, and checks that all threads took part.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/host/team/team.hpp"
#include "kernels/portable/launch.hpp"

namespace spillway::host {

// Calls work(worker, unit) for each unit in [0, units). Calls begin in the ascending order of
// units. `worker` is in [0, workers), and calls with the same `worker` never overlap. The result
// must not depend on which worker gets which unit. Returns when all calls have returned. Throws
// Error(device) if not as many threads worked as the Exec has.
template <class Work>
void deal_units(Exec const& exec, Label const& label, std::int64_t units, std::int64_t workers,
                Work const& work) {
  std::atomic<std::int64_t> next{0};
  auto team = std::int64_t{exec.concurrency()};
  for_each_unit(exec, label, std::min(units, workers),
                [&next, &team, &work, units](std::int64_t worker) {
                  if (worker == 0) team = size_of_this_team();
                  for (auto unit = next.fetch_add(1); unit < units; unit = next.fetch_add(1))
                    work(worker, unit);
                });
  require_whole_team(team, exec.concurrency());
}

}  // namespace spillway::host
