// A draft is a Program that is being scheduled, with what the parts of the scheduler share.
#pragma once

#include <map>
#include <vector>

#include "plan/schedule/program_writer.hpp"
#include "plan/schedule/streaming.hpp"

namespace spillway {

// Maps each backward op's id to the saved tensors that are reloaded just before the op.
using Reloads = std::map<int, std::vector<TensorId>>;

struct Draft {
  Graph const& graph;
  Plan const& plan;
  Fates const& fates;
  std::vector<BackwardGroup> const& groups;
  Reloads const& reloads;
  Streaming const& streaming;
  ProgramWriter writer;
  // Has a list for each segment of micro-batches. The list holds the first item of each backward
  // op, which may be a reload before the op itself.
  std::vector<std::vector<ItemNumber>> op_starts = {};

  bool exchanges() const { return writer.program.ranks > 1; }
  Chunk const& chunk(int id) const { return graph.chunks[id]; }
};

}  // namespace spillway
