// Where nothing fits, the user is told what a plan would need.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"

namespace spillway {

struct Need {
  Plan plan;
  TierBytes peak_bytes{};
  double nvme_bytes_per_s = 0;  // written, where that is too much; else 0
};

// Says "needs at least device 1250MiB and nvme 530MiB (activations: nvme)", rounded up to what a
// budget may say. What is written a day is what all ranks of a node write.
std::string describe(Need const& need, Graph const& graph, std::int64_t node_ranks = 1);

}  // namespace spillway
