// A Program being scheduled: what its parts (schedule_*.cpp) share.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "plan/schedule/fates.hpp"
#include "plan/schedule/program_writer.hpp"

namespace spillway {

// One block's backward ops, in order.
struct BackwardGroup {
  int block = -1;
  std::vector<int> ops;
};

// The saved tensors that are reloaded just before a backward op, by the op's id.
using Reloads = std::map<int, std::vector<TensorId>>;

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
  std::map<std::pair<int, bool>, int> variants = {};  // see `variant` (forward.hpp)
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

}  // namespace spillway
