#include "plan/schedule/streaming.hpp"

namespace spillway {

namespace {

// Per chunk: the stations of a micro-batch that need its parameters brought.
class Uses {
 public:
  Uses(Graph const& graph, Plan const& plan)
      : m_graph(graph), m_plan(plan), m_stations(graph.chunks.size()) {}

  void note(int station, Op const& op) {
    for (View const& view : present(op.inputs)) {
      Tensor const& tensor = m_graph.tensor(view);
      if (tensor.role != Role::parameter || m_plan.chunks.empty()) continue;
      auto const chunk = static_cast<std::size_t>(tensor.chunk);
      if (m_plan.chunks[chunk].parameters == Tier::device) continue;
      auto& stations = m_stations[chunk];
      if (stations.empty() || stations.back() != station) stations.push_back(station);
    }
  }
  std::vector<int> const& stations(Chunk const& chunk) const { return m_stations[chunk.id]; }

 private:
  Graph const& m_graph;
  Plan const& m_plan;
  std::vector<std::vector<int>> m_stations;
};

// Ops of forward passes are in the order of their blocks.
Uses uses(Graph const& graph, Plan const& plan, Fates const& fates,
          std::vector<BackwardGroup> const& groups) {
  Uses result(graph, plan);
  for (Op const& op : graph.ops) {
    if (op.phase == Phase::forward && !op.elided) result.note(op.block, op);
  }
  int station = static_cast<int>(graph.blocks.size());
  for (BackwardGroup const& group : groups) {
    for (auto const* ops : {&group.ops, &fates.repeats[group.block]}) {
      for (int const id : *ops) result.note(station, graph.ops[id]);
    }
    ++station;
  }
  return result;
}

}  // namespace

Streaming plan_streaming(Graph const& graph, Plan const& plan, Fates const& fates,
                         std::vector<BackwardGroup> const& groups) {
  auto const used_at = uses(graph, plan, fates, groups);
  Streaming streaming;
  streaming.fetches.resize(graph.blocks.size() + groups.size());
  streaming.drops.resize(streaming.fetches.size());
  for (Chunk const& chunk : graph.chunks) {
    for_each_visit(used_at.stations(chunk), plan.prefetch, [&](Visit const& visit) {
      streaming.fetches[visit.first].push_back(chunk.id);
      streaming.drops[visit.last].push_back(chunk.id);
    });
  }
  return streaming;
}

}  // namespace spillway
