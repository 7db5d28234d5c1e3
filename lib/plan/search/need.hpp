// If no plan fits, the user is told what a plan would need.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"

namespace spillway {

struct Need {
  Plan plan;
  TierBytes peak_bytes{};
  double nvme_bytes_per_s = 0;  // bytes written to the drive; 0 unless they are too many
};

// Returns a text such as "needs at least device 1250MiB and nvme 530MiB (activations: nvme)". Sizes
// are rounded up to possible budgets. Bytes written a day are those of all ranks of a node.
std::string describe(Need const& need, Graph const& graph, std::int64_t node_ranks = 1);

}  // namespace spillway
