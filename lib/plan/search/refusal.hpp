// A run is refused if no machine is large enough for it, or if no plan fits its budgets. The
// functions in this file tell the user why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/plan.hpp"

namespace spillway {

// Throws Error(bad_input), which names keys to change, if the model is too large for any machine or
// if 63 bits cannot count its bytes. Otherwise bytes can be summed, and multiplied by the
// micro-batches of a step, without overflow.
void check_limits(Graph const& train, std::int64_t micro_batches);

// Throws std::invalid_argument, which names a key to change, if some ranks have `fewer` numbers of
// micro-batches than others although all have to meet in each of them.
void check_uneven(Graph const& train, Asked<Shard> const& shard,
                  std::vector<std::int64_t> const& fewer);

// A Need says how many bytes a plan needs in each tier, and how fast it writes to the drive.
struct Need {
  Plan plan;
  TierBytes peak_bytes{};
  double nvme_bytes_per_s = 0;  // the rate of writes to the drive; 0 if the budget allows it
};

// Returns a text such as "needs at least memory.device=1.221GiB and memory.nvme.size=530MiB
// (activations: nvme)" of those budgets that are too small for the plan, as they can be pasted.
// Sizes are rounded up (format_bytes_up). If a plan writes more to the drive than the budget
// allows, the text also has the `spill.max_write_per_day` that all ranks of a node need together.
std::string describe(Need const& need, Graph const& graph, Budgets const& budgets,
                     std::int64_t node_ranks = 1);

}  // namespace spillway
