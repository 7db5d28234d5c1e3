#include <set>

#include "plan/draft.hpp"
#include "plan/streaming.hpp"

namespace spillway {

namespace {

using Chunks = std::set<int>;

// Adds the chunks of the parameters that an op reads, where they have to be brought.
void note_streamed(Graph const& graph, Plan const& plan, Op const& op, Chunks& chunks) {
  for (View const& view : op.inputs) {
    Tensor const& tensor = graph.tensor(view);
    if (tensor.role != Role::parameter || plan.chunks.empty()) continue;
    auto const home = plan.chunks[static_cast<std::size_t>(tensor.chunk)].parameters;
    if (home != Tier::device) chunks.insert(tensor.chunk);
  }
}

// Per station of a micro-batch: the chunks it needs.
std::vector<Chunks> needs(Graph const& graph, Plan const& plan, Fates const& fates,
                          std::vector<BackwardGroup> const& groups) {
  std::vector<Chunks> result(graph.blocks.size());
  for (Op const& op : graph.ops) {
    if (op.phase != Phase::forward || op.elided) continue;
    note_streamed(graph, plan, op, result[static_cast<std::size_t>(op.block)]);
  }
  for (BackwardGroup const& group : groups) {
    Chunks& chunks = result.emplace_back();
    for (auto const* ops : {&group.ops, &fates.repeats[static_cast<std::size_t>(group.block)]}) {
      for (int const id : *ops)
        note_streamed(graph, plan, graph.ops[static_cast<std::size_t>(id)], chunks);
    }
  }
  return result;
}

}  // namespace

Streaming plan_streaming(Graph const& graph, Plan const& plan, Fates const& fates,
                         std::vector<BackwardGroup> const& groups) {
  auto const stations = needs(graph, plan, fates, groups);
  Streaming streaming;
  streaming.fetches.resize(stations.size());
  streaming.drops.resize(stations.size());
  for (Chunk const& chunk : graph.chunks) {
    int before = -1;  // the station of the last use
    for (int now = 0; now < static_cast<int>(stations.size()); ++now) {
      if (!stations[static_cast<std::size_t>(now)].contains(chunk.id)) continue;
      if (before < 0 || !stays(before, now, plan.prefetch)) {
        if (before >= 0) streaming.drops[static_cast<std::size_t>(before)].push_back(chunk.id);
        auto const at = fetched_at(before, now, plan.prefetch);
        streaming.fetches[static_cast<std::size_t>(at)].push_back(chunk.id);
      }
      before = now;
    }
  }
  return streaming;
}

void enter_station(Draft& draft) {
  ProgramWriter& writer = draft.writer;
  for (int const id : draft.streaming.fetches[static_cast<std::size_t>(draft.station)]) {
    Chunk const& chunk = draft.graph.chunks[static_cast<std::size_t>(id)];
    BufferId const there = writer.add_buffer(chunk.parameter, Tier::device);
    writer.copy(writer.home(chunk.parameter), there, chunk.block);
    writer.set_resident(chunk.parameter, there);
  }
}

void leave_station(Draft& draft) {
  for (int const id : draft.streaming.drops[static_cast<std::size_t>(draft.station++)])
    draft.writer.forget(draft.graph.chunks[static_cast<std::size_t>(id)].parameter);
}

}  // namespace spillway
