// A Program being scheduled: what its parts share.
#pragma once

#include <map>
#include <vector>

#include "plan/schedule/program_writer.hpp"
#include "plan/schedule/streaming.hpp"

namespace spillway {

// The saved tensors that are reloaded just before a backward op, by the op's id.
using Reloads = std::map<int, std::vector<TensorId>>;

struct Draft {
  Graph const& graph;
  Plan const& plan;
  Fates const& fates;
  std::vector<BackwardGroup> const& groups;
  Reloads const& reloads;
  Streaming const& streaming;
  ProgramWriter writer;
  // Per micro-batch segment: where each backward op begins, with what is put before it.
  std::vector<std::vector<ItemNumber>> op_starts = {};

  bool exchanges() const { return writer.program.ranks > 1; }
  Op const& op(int id) const { return graph.ops[id]; }
  Chunk const& chunk(int id) const { return graph.chunks[id]; }
};

}  // namespace spillway
