// A Program being scheduled: what its parts (schedule_*.cpp) share.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "plan/fates.hpp"
#include "plan/program_writer.hpp"

namespace spillway {

// One block's backward ops, in order.
struct BackwardGroup {
  int block = -1;
  std::vector<int> ops;
};
std::vector<BackwardGroup> backward_groups(Graph const& graph);

// The saved tensors that are reloaded just before a backward op, by the op's id.
using Reloads = std::map<int, std::vector<TensorId>>;
// Each at the beginning of its block's group, in order of first use.
Reloads reload_on_demand(Graph const& graph, Fates const& fates);

// When the parameters of chunks that are not at home on the device are brought there, and dropped:
// see streaming.hpp.
struct Streaming {
  std::vector<std::vector<int>> fetches;  // per station: chunks, before its first op
  std::vector<std::vector<int>> drops;    // per station: chunks, after its last op
};

// Where a micro-batch stands in its step.
struct MicroBatch {
  char const* segment;
  bool first, last;
};

struct Draft {
  Graph const& graph;
  Plan const& plan;
  Fates const& fates;
  std::vector<BackwardGroup> const& groups;
  Reloads const& reloads;
  Streaming const& streaming;
  ProgramWriter writer;
  std::map<TensorId, BufferId> spilled = {};  // of this micro-batch
  int station = 0;                            // within this micro-batch
  // Per micro-batch segment: where each backward op begins, with what is put before it.
  std::vector<std::vector<ItemNumber>> op_starts = {};
  std::map<std::pair<int, bool>, int> variants = {};  // see `variant`
  std::map<TensorId, int> accumulates = {};           // per tensor of gradients: its op
  // Parts of gradients by the op that makes them, and the ops that add them within a micro-batch.
  std::multimap<int, GradientPart const*> parts = {};
  std::set<int> adds = {};
  std::multimap<int, GradientPart const*> parts_of_chunk = {};
  std::map<int, int> unfinished = {};  // per chunk: tensors of its gradient that are not whole
  struct Reduction {
    int chunk = -1, tree_sum = -1;  // tree_sum: an op
    BufferId gradient = -1, received = -1;
    std::optional<MicroBatch> joins_step = {};  // where it is of one micro-batch
  };
  std::vector<Reduction> reductions = {};  // begun and not finished
};

// An op of what collects over a step's micro-batches, in the form for the first one (overwrite) or
// for another (add); with several micro-batches, one that makes a part of a gradient writes it
// apart, and one that adds such a part (nothing here) is left out. Any other op as it is.
std::optional<int> variant(Draft& draft, int op, bool first);

Streaming plan_streaming(Graph const& graph, Plan const& plan, Fates const& fates,
                         std::vector<BackwardGroup> const& groups);
void enter_station(Draft& draft);
void leave_station(Draft& draft);

// The last op of every block in a pass.
using BlockEnds = std::map<int, ItemNumber>;
// What leaves the device, among the items from `first` on, has until the end of the block that runs
// next (`step`: 1 or, in the backward pass, -1) before its bytes are expected to be free.
void set_leaving_horizons(Program& program, ItemNumber first, BlockEnds const& ends, int step);

// Forward ops; tensors that leave the device are copied after their last forward use.
void schedule_forward(Draft& draft, bool first);
class Updates;
// Block by block: reloads, clones of forward ops, backward ops, and what gradients then need.
// `updates`: where the step's last micro-batch may begin them; else null.
void schedule_backward(Draft& draft, MicroBatch const& micro_batch, Updates* updates);
// Gradients of the micro-batch before are of no use to this one.
void forget_gradients(Draft& draft);
// A chunk's gradient, or a part of one, is complete for this micro-batch with this block: it joins
// the step's. With the step's last one the parts of a chunk are added, and its reduction begins.
void finish_gradient(Draft& draft, TensorId tensor, int block, MicroBatch const& micro_batch);
// The second half of a reduction, for the `count` gradients that have waited longest.
void finish_reductions(Draft& draft, std::size_t count);
// The lane that works where a chunk's gradient has its home.
Lane gradient_lane(Draft const& draft, Chunk const& chunk);

// Reloads as early as they can come, at most `distance` groups before their own, without raising
// the peak that the Program has anyway.
Reloads hoist_reloads(Draft const& on_demand, int distance);

}  // namespace spillway
