#include <algorithm>
#include <numeric>

#include "plan/schedule/fates.hpp"
#include "plan/search/block_model.hpp"

namespace spillway {

namespace {

// Uses holds the positions, in the order of ops, of the first and last use of a tensor or block.
struct Uses {
  int first = -1, last = -1;

  bool empty() const { return first < 0; }
  void extend(int at) {
    if (empty()) first = at;
    last = at;
  }
};

Plan uniform(Graph const& graph, BlockPolicy policy) {
  Plan plan;
  plan.blocks.assign(graph.blocks.size(), {policy, 1});
  plan.chunks.resize(graph.chunks.size());
  normalise(graph, plan);
  return plan;
}

// A UniformWalk goes through the ops of one micro-batch and counts the bytes alive at each op.
class UniformWalk {
 public:
  UniformWalk(Graph const& graph, BlockPolicy policy, IdVector<ItemCost> const& costs)
      : m_graph(graph), m_fates(decide_fates(graph, uniform(graph, policy))) {
    m_result.resize(graph.blocks.size());
    for (Pass* pass : {&m_forward, &m_backward}) {
      pass->tensors.resize(graph.tensors.size());
      pass->blocks.resize(graph.blocks.size());
    }
    int const blocks = static_cast<int>(graph.blocks.size());
    for (int station = 0; auto const& ops : ops_of_stations(graph, m_fates)) {
      bool const forward = station++ < blocks;
      for (int const op : ops) {
        run(op, graph.op(op).block, forward ? m_forward : m_backward);
        if (!forward) add(m_result[graph.op(op).block].backward, costs[op]);
      }
    }
  }

  IdVector<PolicyCost> result() {
    m_change.assign(m_live.size() + 1, 0);
    for (Uses const& block : m_forward.blocks) {
      while (std::ssize(m_block_ends) <= block.last) m_block_ends.push_back(block.last);
    }
    for (Tensor const& tensor : m_graph.tensors) {
      if (tensor.is_activation()) hold_tensor(tensor);
    }
    std::partial_sum(m_change.begin(), m_change.end(), m_change.begin());
    for (std::size_t i = 0; i < m_live.size(); ++i) m_live[i] += m_change[i];
    std::int64_t kept_before = 0;
    for (int b = 0; b < std::ssize(m_result); ++b) {
      m_result[b].forward_bytes = most(m_forward.blocks[b]) - kept_before;
      m_result[b].backward_bytes = most(m_backward.blocks[b]) - kept_before;
      kept_before += m_result[b].kept_bytes;
    }
    return std::move(m_result);
  }

 private:
  struct Pass {
    IdVector<Uses> tensors, blocks;
  };

  void run(int id, int block, Pass& pass) {
    Op const& op = m_graph.op(id);
    int const at = static_cast<int>(m_live.size());
    for (auto const* views : {&op.inputs, &op.outputs}) {
      for (View const& view : present(*views)) pass.tensors[view.tensor].extend(at);
    }
    pass.blocks[block].extend(at);
    m_live.push_back(op.workspace_bytes);
  }

  void hold(int first, int last, std::int64_t bytes) {
    m_change[first] += bytes;
    m_change[last + 1] -= bytes;
  }

  void hold_tensor(Tensor const& tensor) {
    Uses const& forward = m_forward.tensors[tensor.id];
    Uses const& backward = m_backward.tensors[tensor.id];
    bool const saved = !forward.empty() && !backward.empty() && m_fates.saved(tensor.id);
    int const reader = saved ? m_fates.readers[tensor.id].front() : -1;
    auto const fate = m_fates.of(tensor.id);
    if (saved && fate == Fate::keep) {
      m_result[reader].kept_bytes += tensor.bytes();
      return hold(forward.first, backward.last, tensor.bytes());
    }
    auto forward_last = forward.last;
    auto backward_first = backward.first;
    if (saved && fate != Fate::recompute) {
      m_result[reader].away_bytes += tensor.bytes();
      forward_last = m_block_ends[forward.last];
      backward_first = m_backward.blocks[reader].first;
    }
    if (!forward.empty()) hold(forward.first, forward_last, tensor.bytes());
    if (!backward.empty()) hold(backward_first, backward.last, tensor.bytes());
  }

  std::int64_t most(Uses const& block) const {
    if (block.empty()) return 0;
    return *std::max_element(m_live.begin() + block.first, m_live.begin() + block.last + 1);
  }

  Graph const& m_graph;
  Fates const m_fates;
  Pass m_forward, m_backward;
  IdVector<std::int64_t> m_live, m_change;  // bytes alive at each op, and their change
  // For each forward op this is the position of the last op of its block.
  IdVector<int> m_block_ends;
  IdVector<PolicyCost> m_result;
};

}  // namespace

IdVector<PolicyCost> policy_costs(Graph const& graph, BlockPolicy policy,
                                  IdVector<ItemCost> const& costs) {
  return UniformWalk(graph, policy, costs).result();
}

void add(ItemCost& sum, ItemCost const& cost) {
  double const seconds = sum.seconds + cost.seconds;
  for (std::size_t r = 0; r < kResources && seconds > 0; ++r) {
    sum.demand[r] = (sum.demand[r] * sum.seconds + cost.demand[r] * cost.seconds) / seconds;
  }
  sum.seconds = seconds;
}

}  // namespace spillway
