#include "graph/graph.hpp"

#include <algorithm>

namespace spillway {

TensorId Chunk::state(std::string_view name) const {
  for (State const& state : states) {
    if (state.name == name) return state.tensor;
  }
  return -1;
}

std::vector<ElementRange> const& Chunk::parts_of(TensorId tensor) const {
  static std::vector<ElementRange> const none;
  for (State const& state : states) {
    if (state.tensor == tensor) return state.parts;
  }
  return none;
}

bool Chunk::is_updated_whole() const {
  return std::ranges::any_of(states, [](State const& state) { return !state.parts.empty(); });
}

TensorId WellKnown::of(BatchField field, int stack) const {
  for (BatchTensor const& one : batch) {
    if (one.field == field && one.stack == stack) return one.tensor;
  }
  return -1;
}

std::int64_t Graph::parameter_count() const {
  std::int64_t count = 0;
  for (auto const& chunk : chunks) {
    for (auto const& parameter : chunk.parameters) count += element_count(parameter.shape());
  }
  return count;
}

std::int64_t Graph::trained_parameter_count() const {
  std::int64_t count = 0;
  for (auto const& chunk : chunks) {
    if (!chunk.trainable) continue;
    for (auto const& parameter : chunk.parameters) count += element_count(parameter.shape());
  }
  return count;
}

IdVector<BackwardGroup> backward_groups(Graph const& graph) {
  IdVector<BackwardGroup> groups;
  for (Op const& op : graph.ops) {
    if (op.phase != Phase::backward) continue;
    if (groups.empty() || groups.back().block != op.block) groups.push_back({op.block, {}});
    groups.back().ops.push_back(op.id);
  }
  return groups;
}

}  // namespace spillway
