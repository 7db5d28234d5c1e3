// A draft is a Program that is being scheduled, with what its parts share.
#pragma once

#include <map>
#include <vector>

#include "plan/schedule/program_writer.hpp"
#include "plan/schedule/streaming.hpp"

namespace spillway {

// For each backward op, by its id: the saved tensors that are reloaded just before it.
using Reloads = std::map<int, std::vector<TensorId>>;

struct Draft {
  Graph const& graph;
  Plan const& plan;
  Fates const& fates;
  std::vector<BackwardGroup> const& groups;
  Reloads const& reloads;
  Streaming const& streaming;
  ProgramWriter writer;
  // Says for each segment of a micro-batch where each backward op begins, with what is put before
  // it.
  std::vector<std::vector<ItemNumber>> op_starts = {};

  bool exchanges() const { return writer.program.ranks > 1; }
  Chunk const& chunk(int id) const { return graph.chunks[id]; }
};

}  // namespace spillway
