#include "plan/schedule/streaming.hpp"

namespace spillway {

bool gains_by_groups(Plan const& plan) {
  auto const moves_sums = [&](ChunkPlan const& chunk) {
    return chunk.gradients == Tier::nvme || (!plan.unified && chunk.gradients == Tier::host);
  };
  return fetches_parameters(plan) || std::ranges::any_of(plan.chunks, moves_sums);
}

std::vector<int> put_off(Plan const& plan, std::vector<int> const& chunks,
                         IdVector<int> const& ready) {
  auto by_gradient = chunks;
  std::erase_if(by_gradient, [&](int chunk) { return plan.chunks[chunk].update != Tier::host; });
  std::ranges::stable_sort(by_gradient, {}, [&](int chunk) { return ready[chunk]; });
  std::erase_if(by_gradient, [&, i = 0](int) mutable { return is_early(i++, plan.early); });
  return by_gradient;
}

Streaming plan_streaming(Graph const& graph, Plan const& plan,
                         IdVector<std::vector<int>> const& stations) {
  Streaming streaming;
  streaming.fetches.resize(stations.size());
  streaming.drops.resize(stations.size());
  if (plan.chunks.empty()) return streaming;
  IdVector<std::vector<int>> needed_at(graph.chunks.size());  // lists stations that use each chunk
  for (int station = 0; station < std::ssize(stations); ++station) {
    for (int const op : stations[station]) {
      for (View const& view : present(graph.op(op).inputs)) {
        Tensor const& tensor = graph.tensor(view);
        if (tensor.role != Role::parameter) continue;
        auto& needed = needed_at[tensor.chunk];
        if (needed.empty() || needed.back() != station) needed.push_back(station);
      }
    }
  }
  for (Chunk const& chunk : graph.chunks) {
    if (!fetches_parameters(plan.chunks[chunk.id])) continue;
    for_each_visit(needed_at[chunk.id], plan.prefetch, [&](Visit const& visit) {
      streaming.fetches[visit.first].push_back(chunk.id);
      streaming.drops[visit.last].push_back(chunk.id);
    });
  }
  return streaming;
}

}  // namespace spillway
