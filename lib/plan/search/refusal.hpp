// A question is refused if no machine is large enough for it, or if no plan fits. These functions
// tell the user why.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"

namespace spillway {

// Throws Error(bad_input) with one line that names the keys if sizes are such as no machine has, or
// as 63 bits cannot count. Once this has passed, bytes can be summed and multiplied by the
// micro-batches of a step without overflow.
void check_limits(Graph const& train, std::int64_t micro_batches);

// Says what a plan would need.
struct Need {
  Plan plan;
  TierBytes peak_bytes{};
  double nvme_bytes_per_s = 0;  // bytes written to the drive; 0 unless they are too many
};

// Returns a text such as "needs at least device 1250MiB and nvme 530MiB (activations: nvme)". Sizes
// are rounded up to possible budgets. Bytes written a day are those of all ranks of a node.
std::string describe(Need const& need, Graph const& graph, std::int64_t node_ranks = 1);

}  // namespace spillway
