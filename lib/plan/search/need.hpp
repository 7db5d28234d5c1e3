// What a plan would need, where nothing fits.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"

namespace spillway {

struct Need {
  Plan plan;
  TierBytes peak_bytes{};
  double nvme_bytes_per_s = 0;  // to the drive; not 0 where the plan fits but writes too much
};

// "needs at least device 1250MiB and nvme 530MiB (activations: nvme)", rounded up to what a budget
// may say: for status 3. What is written a day is of all a node's ranks.
std::string describe(Need const& need, Graph const& graph, std::int64_t node_ranks = 1);

}  // namespace spillway
