// A micro-batch's backward pass.
#pragma once

#include "plan/schedule/draft.hpp"

namespace spillway {

class Updates;
// Block by block: reloads, clones of forward ops, backward ops, and what gradients then need.
// `updates`: where the step's last micro-batch may begin them; else null.
void schedule_backward(Draft& draft, MicroBatch const& micro_batch, Updates* updates);

std::vector<BackwardGroup> backward_groups(Graph const& graph);

// Each tensor that is away at the beginning of its block's group, in order of first use.
Reloads reload_on_demand(Graph const& graph, Fates const& fates);

}  // namespace spillway
