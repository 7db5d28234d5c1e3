#include "plan/fates.hpp"

#include <algorithm>

namespace spillway {

namespace {

bool is_activation(Tensor const& tensor) {
  return tensor.role == Role::activation || tensor.role == Role::edge;
}

// Per tensor: the block whose forward pass makes it; -1: none does.
std::vector<int> producers(Graph const& graph) {
  std::vector<int> block(graph.tensors.size(), -1);
  for (Op const& op : graph.ops) {
    if (op.phase != Phase::forward || op.elided) continue;
    for (View const& view : op.outputs) {
      if (is_activation(graph.tensor(view)))
        block[static_cast<std::size_t>(view.tensor)] = op.block;
    }
  }
  return block;
}

void note(std::vector<int>& blocks, int block) {
  auto const place = std::lower_bound(blocks.begin(), blocks.end(), block);
  if (place == blocks.end() || *place != block) blocks.insert(place, block);
}

std::vector<std::vector<int>> backward_readers(Graph const& graph, Plan const& plan,
                                               std::vector<int> const& producer) {
  std::vector<std::vector<int>> readers(graph.tensors.size());
  for (Op const& op : graph.ops) {
    bool const again = op.phase == Phase::forward && !op.elided &&
                       effective_policy(graph, plan, op.block) == BlockPolicy::recompute;
    if (op.phase != Phase::backward && !again) continue;
    for (View const& view : op.inputs) {
      auto const tensor = static_cast<std::size_t>(view.tensor);
      bool const made_again = again && producer[tensor] == op.block;
      if (producer[tensor] >= 0 && !made_again) note(readers[tensor], op.block);
    }
  }
  return readers;
}

Fate fate_of(Tensor const& tensor, BlockPolicy maker, BlockPolicy reader, bool own) {
  if (reader == BlockPolicy::nvme && tensor.bytes() >= kSmallestSpillBytes) return Fate::nvme;
  bool const again = own && maker == BlockPolicy::recompute && tensor.role != Role::edge;
  return again ? Fate::recompute : Fate::keep;
}

}  // namespace

BlockPolicy effective_policy(Graph const& graph, Plan const& plan, int block) {
  if (block < 0 || !graph.blocks[static_cast<std::size_t>(block)].layer) return BlockPolicy::keep;
  auto const last = std::find_if(graph.blocks.rbegin(), graph.blocks.rend(),
                                 [](Block const& b) { return b.layer; });
  bool const is_last = block == static_cast<int>(graph.blocks.rend() - last) - 1;
  auto const policy = plan.blocks[static_cast<std::size_t>(block)].policy;
  return is_last && policy == BlockPolicy::nvme ? BlockPolicy::keep : policy;
}

Fates decide_fates(Graph const& graph, Plan const& plan) {
  auto const producer = producers(graph);
  Fates fates{std::vector<Fate>(graph.tensors.size(), Fate::keep),
              backward_readers(graph, plan, producer)};
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    auto const& readers = fates.readers[t];
    if (producer[t] < 0 || readers.size() > 1) continue;
    int const reader = readers.empty() ? producer[t] : readers.front();
    auto const maker_policy = effective_policy(graph, plan, producer[t]);
    auto const reader_policy =
        readers.empty() ? BlockPolicy::keep : effective_policy(graph, plan, reader);
    fates.fate[t] = fate_of(graph.tensors[t], maker_policy, reader_policy, reader == producer[t]);
  }
  return fates;
}

}  // namespace spillway
