#include "plan/schedule/fates.hpp"

#include <algorithm>
#include <cmath>

#include "plan/memory/lifetime.hpp"

namespace spillway {

namespace {

bool runs_forward(Op const& op) {
  return op.phase == Phase::forward && !op.elided;
}

// Returns for each activation the forward ops that make it, in their order: mostly one, and more
// where later ones add to it. There are none for every other tensor.
IdVector<std::vector<int>> makers(Graph const& graph) {
  IdVector<std::vector<int>> all(graph.tensors.size());
  for (Op const& op : graph.ops) {
    if (!runs_forward(op)) continue;
    for (View const& view : present(op.outputs)) {
      auto& ops = all[view.tensor];
      bool const is_noted = !ops.empty() && ops.back() == op.id;
      if (graph.tensor(view).is_activation() && !is_noted) ops.push_back(op.id);
    }
  }
  return all;
}

void note(std::vector<int>& blocks, int block) {
  auto const place = std::lower_bound(blocks.begin(), blocks.end(), block);
  if (place == blocks.end() || *place != block) blocks.insert(place, block);
}

// An op may run again under policy `recompute` and, if it has no matrix product, under `light`.
bool may_repeat(BlockPolicy policy, Op const& op) {
  auto const repeats = row(policy).repeats;
  return repeats == Repeats::all || (repeats == Repeats::cheap && op.flops == 0);
}

class Decision {
 public:
  Decision(Graph const& graph, Plan const& plan)
      : m_graph(graph), m_plan(plan), m_makers(makers(graph)) {
    m_fates.fate.assign(graph.tensors.size(), Fate::keep);
    m_fates.away_bytes.assign(graph.tensors.size(), 0);
    m_fates.readers.resize(graph.tensors.size());
    m_fates.repeats.resize(graph.blocks.size());
  }

  Fates decide() {
    for (Op const& op : m_graph.ops) {
      if (op.phase == Phase::backward) read(op, op.block);
    }
    for (int block = 0; block < static_cast<int>(m_plan.blocks.size()); ++block) repeat(block);
    for (Tensor const& tensor : m_graph.tensors) send_away(tensor);
    return std::move(m_fates);
  }

 private:
  Op const& op(int id) const { return m_graph.ops[id]; }

  void read(Op const& op, int block) {
    for (View const& view : present(op.inputs)) {
      if (!m_makers[view.tensor].empty()) note(m_fates.readers[view.tensor], block);
    }
  }

  // A block owns a tensor that only its backward pass reads, unless the tensor's role is `edge`.
  bool is_own(TensorId tensor, int block) const {
    return m_fates.readers[tensor] == std::vector{block} &&
           m_graph.tensors[tensor].role != Role::edge;
  }

  // Returns whether the tensor is made again. All ops that make it then run again: the last one,
  // which is asked first, decides.
  bool is_made_again(TensorId tensor, int id, int block) const {
    auto const& makers = m_makers[tensor];
    if (makers.empty()) return false;
    if (makers.back() != id) return m_fates.fate[tensor] == Fate::recompute;
    auto const policy = m_plan.blocks[block].policy;
    return is_own(tensor, block) &&
           std::ranges::all_of(makers, [&](int maker) { return may_repeat(policy, op(maker)); });
  }

  // Decides which ops run again. Later ops come first, since they read what earlier ops make.
  void repeat(int block) {
    auto const policy = m_plan.blocks[block].policy;
    auto const& range = m_graph.blocks[block];
    auto& repeats = m_fates.repeats[block];
    for (int id = range.last_op - 1; id >= range.first_op; --id) {
      if (!runs_forward(op(id)) || !may_repeat(policy, op(id))) continue;
      bool again = false;
      for (View const& view : present(op(id).outputs)) {
        if (!is_made_again(view.tensor, id, block)) continue;
        m_fates.fate[view.tensor] = Fate::recompute;
        again = true;
      }
      if (!again) continue;
      repeats.push_back(id);
      read(op(id), block);
    }
    std::reverse(repeats.begin(), repeats.end());
  }

  void send_away(Tensor const& tensor) {
    auto const id = static_cast<std::size_t>(tensor.id);
    auto const& readers = m_fates.readers[id];
    if (m_fates.fate[id] == Fate::recompute || readers.size() != 1) return;
    auto const [policy, fraction] = m_plan.blocks[readers.front()];
    auto const tier = away_tier(policy);
    if (!tier || tensor.bytes() < kSmallestSpillBytes) return;
    auto const kept_pages =
        std::ceil((1 - fraction) * static_cast<double>(tensor.bytes()) / kPageBytes);
    auto const kept_bytes = static_cast<std::int64_t>(kept_pages) * kPageBytes;
    if (kept_bytes >= tensor.bytes()) return;
    m_fates.away_bytes[id] = tensor.bytes() - kept_bytes;
    m_fates.fate[id] = *tier == Tier::host ? Fate::host : Fate::nvme;
  }

  Graph const& m_graph;
  Plan const& m_plan;
  IdVector<std::vector<int>> m_makers;
  Fates m_fates;
};

}  // namespace

Fates decide_fates(Graph const& graph, Plan const& plan) {
  return Decision(graph, plan).decide();
}

IdVector<std::vector<int>> ops_of_stations(Graph const& graph, Fates const& fates) {
  IdVector<std::vector<int>> stations(graph.blocks.size());
  for (Op const& op : graph.ops) {
    if (runs_forward(op)) stations[op.block].push_back(op.id);
  }
  for (BackwardGroup const& group : backward_groups(graph)) {
    auto& ops = stations.emplace_back(fates.repeats[group.block]);
    ops.insert(ops.end(), group.ops.begin(), group.ops.end());
  }
  return stations;
}

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
