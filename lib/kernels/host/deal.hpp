// Deals pieces of work to the threads of the host, which then prove that they were all there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/host/team/team.hpp"
#include "kernels/portable/launch.hpp"

namespace spillway::host {

// work(worker, item) for all items, begun in order; which worker takes which must not matter.
// Returns when all are done. Throws Error(device) if fewer threads than
// the Exec's have worked.
template <class Work>
void deal_items(Exec const& exec, Label const& label, std::int64_t items, std::int64_t workers,
                Work const& work) {
  std::atomic<std::int64_t> next{0};
  auto team = std::int64_t{exec.concurrency()};
  for_each_item(exec, label, std::min(items, workers),
                [&next, &team, &work, items](std::int64_t worker) {
                  if (worker == 0) team = size_of_this_team();
                  for (auto item = next.fetch_add(1); item < items; item = next.fetch_add(1))
                    work(worker, item);
                });
  require_whole_team(team, exec.concurrency());
}

}  // namespace spillway::host
