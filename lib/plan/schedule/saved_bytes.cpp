#include "plan/schedule/saved_bytes.hpp"

namespace spillway {

std::vector<FateBytes> saved_bytes(Graph const& graph, Plan const& plan) {
  auto const fates = decide_fates(graph, plan);
  std::vector<FateBytes> bytes(graph.blocks.size());
  for (Tensor const& tensor : graph.tensors) {
    if (!fates.saved(tensor.id)) continue;
    int const block = fates.readers[tensor.id].back();
    auto& of_block = bytes[block];
    auto const away = fates.away_bytes[tensor.id];
    auto const fate = fates.leaves(tensor.id) ? Fate::keep : fates.of(tensor.id);
    of_block[fate] += tensor.bytes() - away;
    of_block[fates.of(tensor.id)] += away;
  }
  return bytes;
}

}  // namespace spillway
