// Says which ranks exchange bytes in an item of the lane `comm`.
#pragma once

#include "graph/sharing.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// Returns how ranks part the chunk, or a gradient of no chunk: then no rank keeps less than all.
Sharing sharing_of(Program const& program, int chunk);
// Returns whether an all_gather brings the parameters of the item's chunk, and not its gradient.
bool gathers_parameters(Program const& program, Item const& item);
// Returns the ranks, `rank` among them, that exchange bytes in an all_to_all or an all_gather.
RankRange exchange_group(Program const& program, Item const& item, std::int64_t rank);

}  // namespace spillway
