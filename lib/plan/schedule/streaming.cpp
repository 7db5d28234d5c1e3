#include "plan/schedule/streaming.hpp"

namespace spillway {

namespace {

// Lists for each chunk the stations of a micro-batch that need its parameters fetched.
using Needed = IdVector<std::vector<int>>;

void note(int station, Op const& op, Graph const& graph, Plan const& plan, Needed& needed) {
  for (View const& view : present(op.inputs)) {
    Tensor const& tensor = graph.tensor(view);
    if (tensor.role != Role::parameter || plan.chunks.empty()) continue;
    if (plan.chunks[tensor.chunk].parameters == Tier::device) continue;
    auto& stations = needed[tensor.chunk];
    if (stations.empty() || stations.back() != station) stations.push_back(station);
  }
}

// Finds, for each chunk, the stations that need its parameters. The ops of a forward pass must be
// in the order of their blocks.
Needed needed(Graph const& graph, Plan const& plan, Fates const& fates,
              std::vector<BackwardGroup> const& groups) {
  Needed result(graph.chunks.size());
  for (Op const& op : graph.ops) {
    if (op.phase == Phase::forward && !op.elided) note(op.block, op, graph, plan, result);
  }
  int station = static_cast<int>(graph.blocks.size());
  for (BackwardGroup const& group : groups) {
    for (auto const* ops : {&group.ops, &fates.repeats[group.block]}) {
      for (int const id : *ops) note(station, graph.op(id), graph, plan, result);
    }
    ++station;
  }
  return result;
}

}  // namespace

Streaming plan_streaming(Graph const& graph, Plan const& plan, Fates const& fates,
                         std::vector<BackwardGroup> const& groups) {
  auto const needed_at = needed(graph, plan, fates, groups);
  Streaming streaming;
  streaming.fetches.resize(graph.blocks.size() + groups.size());
  streaming.drops.resize(streaming.fetches.size());
  for (Chunk const& chunk : graph.chunks) {
    for_each_visit(needed_at[chunk.id], plan.prefetch, [&](Visit const& visit) {
      streaming.fetches[visit.first].push_back(chunk.id);
      streaming.drops[visit.last].push_back(chunk.id);
    });
  }
  return streaming;
}

}  // namespace spillway
