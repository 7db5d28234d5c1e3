#include "plan/search/block_model.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "plan/data/plan.hpp"
#include "plan/schedule/backward_groups.hpp"
#include "plan/schedule/fates.hpp"
#include "plan/schedule/gradient_items.hpp"

namespace spillway {

namespace {

void add(ItemCost& sum, ItemCost const& cost) {
  double const seconds = sum.seconds + cost.seconds;
  for (std::size_t r = 0; r < kResources && seconds > 0; ++r) {
    sum.demand[r] = (sum.demand[r] * sum.seconds + cost.demand[r] * cost.seconds) / seconds;
  }
  sum.seconds = seconds;
}

struct Span {
  int first = -1, last = -1;
  bool empty() const { return first < 0; }
  void extend(int at) {
    if (empty()) first = at;
    last = at;
  }
};

bool comes_and_goes(Tensor const& tensor) {
  return tensor.role == Role::activation || tensor.role == Role::edge;
}

// One micro-batch in which every block follows the same policy: what runs in which order, and how
// many bytes are alive meanwhile.
class UniformWalk {
 public:
  UniformWalk(Graph const& graph, std::vector<BackwardGroup> const& groups, BlockPolicy policy)
      : m_graph(graph), m_fates(decide_fates(graph, uniform(graph, policy))) {
    for (Op const& op : graph.ops) {
      if (op.phase == Phase::forward && !op.elided) pass(op.id, op.block, m_forward);
    }
    for (BackwardGroup const& group : groups) {
      for (int const op : m_fates.repeats[group.block]) pass(op, group.block, m_backward);
      for (int const op : group.ops) pass(op, group.block, m_backward);
    }
    count();
  }

  Fates const& fates() const { return m_fates; }
  // The most alive in a block's pass, beside what blocks before it keep.
  std::int64_t forward_bytes(int block) const { return most(m_forward, block); }
  std::int64_t backward_bytes(int block) const { return most(m_backward, block); }
  std::int64_t kept_bytes(int block) const { return m_kept[block]; }
  std::int64_t away_bytes(int block) const { return m_away[block]; }

 private:
  struct Pass {
    std::vector<Span> tensors, blocks;  // positions
  };

  static Plan uniform(Graph const& graph, BlockPolicy policy) {
    Plan plan;
    plan.blocks.assign(graph.blocks.size(), {policy, 1});
    plan.chunks.resize(graph.chunks.size());
    normalise(graph, plan);
    return plan;
  }

  void pass(int id, int block, Pass& pass) {
    pass.tensors.resize(m_graph.tensors.size());
    pass.blocks.resize(m_graph.blocks.size());
    Op const& op = m_graph.ops[id];
    int const at = static_cast<int>(m_live.size());
    for (auto const* views : {&op.inputs, &op.outputs}) {
      for (View const& view : present(*views)) pass.tensors[view.tensor].extend(at);
    }
    pass.blocks[block].extend(at);
    m_live.push_back(op.workspace_bytes);
  }

  void hold(int first, int last, std::int64_t bytes) {
    m_change[first] += bytes;
    m_change[static_cast<std::size_t>(last) + 1] -= bytes;
  }

  void count() {
    m_kept.assign(m_graph.blocks.size(), 0);
    m_away = m_kept;
    m_change.assign(m_live.size() + 1, 0);
    find_block_ends();
    for (Tensor const& tensor : m_graph.tensors) {
      if (comes_and_goes(tensor)) hold_tensor(tensor);
    }
    std::partial_sum(m_change.begin(), m_change.end(), m_change.begin());
    for (std::size_t i = 0; i < m_live.size(); ++i) m_live[i] += m_change[i];
    std::exclusive_scan(m_kept.begin(), m_kept.end(), std::back_inserter(m_kept_before),
                        std::int64_t{0});
  }

  void hold_tensor(Tensor const& tensor) {
    auto const id = static_cast<std::size_t>(tensor.id);
    Span const& forward = m_forward.tensors[id];
    Span const& backward = m_backward.tensors[id];
    bool const saved = !forward.empty() && !backward.empty() && m_fates.saved(tensor.id);
    auto const fate = m_fates.of(tensor.id);
    if (saved && fate == Fate::keep) {
      hold(forward.first, backward.last, tensor.bytes());
      m_kept[m_fates.readers[id].front()] += tensor.bytes();
      return;
    }
    auto forward_last = forward.last;
    auto backward_first = backward.first;
    if (saved && fate != Fate::recompute) {
      auto const reader = static_cast<std::size_t>(m_fates.readers[id].front());
      m_away[reader] += tensor.bytes();
      forward_last = end_of_block(forward.last);
      backward_first = m_backward.blocks[reader].first;
    }
    if (!forward.empty()) hold(forward.first, forward_last, tensor.bytes());
    if (!backward.empty()) hold(backward_first, backward.last, tensor.bytes());
  }

  int end_of_block(int at) const { return m_block_ends[at]; }

  // Of every position of the forward pass: where the first block ends that does so from there on.
  void find_block_ends() {
    for (Span const& span : m_forward.blocks) {
      while (std::ssize(m_block_ends) <= span.last) m_block_ends.push_back(span.last);
    }
  }

  std::int64_t most(Pass const& pass, int block) const {
    Span const& span = pass.blocks[block];
    if (span.empty()) return 0;
    return *std::max_element(m_live.begin() + span.first, m_live.begin() + span.last + 1) -
           m_kept_before[block];
  }

  Graph const& m_graph;
  Fates m_fates;
  Pass m_forward, m_backward;
  std::vector<std::int64_t> m_live, m_change;  // per position
  std::vector<int> m_block_ends;               // see find_block_ends
  std::vector<std::int64_t> m_kept, m_away;    // per block
  std::vector<std::int64_t> m_kept_before;     // by the blocks before a block
};

class Builder {
 public:
  Builder(Graph const& graph, Machine const& machine, std::int64_t ranks)
      : m_graph(graph), m_machine(machine), m_groups(backward_groups(graph)) {
    m_model.ranks = ranks;
    for (Op const& op : graph.ops) {
      m_costs.push_back(op.elided ? ItemCost{}
                                  : op_cost(op, graph.tensors, machine, Lane::compute));
    }
  }

  BlockModel build(std::vector<BlockPolicy> const& policies) {
    for (Block const& block : m_graph.blocks) {
      auto& cost = m_model.blocks.emplace_back();
      cost.layer = block.layer;
      if (block.layer) m_model.last_layer = static_cast<int>(m_model.blocks.size()) - 1;
      for (int op = block.first_op; op < block.last_op; ++op) add(cost.forward, this->cost(op));
    }
    for (BlockPolicy const policy : policies) follow(policy);
    note_chunks();
    m_model.reduces_each = m_graph.arithmetic.reduction == "each";
    return std::move(m_model);
  }

 private:
  ItemCost const& cost(int op) const { return m_costs[op]; }

  void follow(BlockPolicy policy) {
    UniformWalk const walk(m_graph, m_groups, policy);
    for (BackwardGroup const& group : m_groups) {
      auto& backward = m_model.blocks[group.block].policies[policy].backward;
      for (int const op : walk.fates().repeats[group.block]) add(backward, cost(op));
      for (int const op : group.ops) add(backward, cost(op));
    }
    for (int b = 0; b < std::ssize(m_model.blocks); ++b) {
      auto& numbers = m_model.blocks[b].policies[policy];
      numbers.kept_bytes = walk.kept_bytes(b);
      numbers.away_bytes = walk.away_bytes(b);
      numbers.forward_bytes = walk.forward_bytes(b);
      numbers.backward_bytes = walk.backward_bytes(b);
    }
  }

  std::int64_t bytes(TensorId id) const { return id < 0 ? 0 : m_graph.tensors[id].bytes(); }

  void note_chunks() {
    for (Chunk const& chunk : m_graph.chunks) {
      auto& cost = m_model.chunks.emplace_back();
      cost.elements = chunk.elements;
      cost.parameter_bytes = bytes(chunk.parameter);
      cost.home_bytes = cost.parameter_bytes;
      cost.gradient_bytes = cost.held_gradient_bytes = bytes(chunk.gradient);
      cost.trainable = chunk.trainable;
      for (State const& state : chunk.states) cost.optimizer_bytes += bytes(state.tensor);
    }
    note_parts();
    for (Op const& op : m_graph.ops) {
      auto& block = m_model.blocks[std::max(0, op.block)];
      if (op.phase == Phase::norm || op.phase == Phase::update) note_update(op);
      if (op.phase == Phase::forward) note_parameters(op, block.chunks);
      if (op.phase == Phase::forward && !op.elided) note_parameters(op, block.forward_chunks);
      if (op.phase == Phase::backward) note_parameters(op, block.backward_chunks);
    }
    note_readers();
  }

  void note_parts() {
    std::set<std::pair<int, int>> makers;  // op, output
    for (GradientPart const& part : m_graph.parts) {
      makers.insert({part.op, part.output});
      makers.insert({part.add, 0});
      Tensor const& tensor = m_graph.tensors[part.tensor];
      auto const sum = sum_of(whole(tensor));
      auto& cost = m_model.chunks[part.chunk].parts.emplace_back();
      cost.block = m_graph.ops[part.op].block;
      cost.bytes = tensor.bytes();
      cost.fused = part.add < 0;
      cost.accumulate = cost_on(sum, Lane::compute);
      cost.host_accumulate = cost_on(sum, Lane::host);
    }
    for (Op const& op : m_graph.ops) {
      if (op.phase != Phase::backward) continue;
      for (int i = 0; i < std::ssize(op.outputs); ++i) {
        View const& view = op.outputs[i];
        if (!is_present(view) || makers.contains({op.id, i})) continue;
        Tensor const& tensor = m_graph.tensor(view);
        if (tensor.role != Role::gradient) continue;
        m_model.chunks[tensor.chunk].own_block = op.block;
      }
    }
  }

  // As the schedule makes it of a gradient and the one before.
  static Op sum_of(View const& gradient) {
    Op sum;
    sum.kind = OpKind::accumulate;
    sum.inputs = sum.outputs = {gradient};
    sum.in_place = {0};
    return sum;
  }

  ItemCost cost_on(Op const& op, Lane lane) const {
    return op_cost(op, m_graph.tensors, m_machine, lane);
  }

  void note_parameters(Op const& op, std::vector<int>& chunks) const {
    for (View const& view : present(op.inputs)) {
      Tensor const& tensor = m_graph.tensor(view);
      if (tensor.role == Role::parameter && std::ranges::count(chunks, tensor.chunk) == 0)
        chunks.push_back(tensor.chunk);
    }
  }

  void note_readers() {
    int const blocks = static_cast<int>(m_model.blocks.size());
    auto const chunk = [&](int id) -> ChunkCost& { return m_model.chunks[id]; };
    for (int b = 0; b < blocks; ++b) {
      for (int const id : m_model.blocks[b].chunks) {
        if (chunk(id).first_block < 0) chunk(id).first_block = b;
        chunk(id).last_block = b;
      }
      for (int const id : m_model.blocks[b].forward_chunks) chunk(id).readers.push_back(b);
    }
    for (int b = blocks; b-- > 0;) {
      for (int const id : m_model.blocks[b].backward_chunks)
        chunk(id).readers.push_back(2 * blocks - 1 - b);
    }
  }

  void note_update(Op const& op) {
    auto& chunk = m_model.chunks[op.chunk];
    if (op.phase == Phase::norm) {
      chunk.norm = cost(op.id);
      chunk.host_norm = cost_on(op, Lane::host);
    } else {
      chunk.whole_chunk = op.whole_chunk;
      chunk.update = cost(op.id);
      chunk.host_update = cost_on(op, Lane::host);
      auto const sum = sum_of(op.inputs[0]);
      chunk.accumulate = cost_on(sum, Lane::compute);
      chunk.host_accumulate = cost_on(sum, Lane::host);
      if (m_model.ranks > 1) note_tree_sum(chunk, op.chunk);
    }
  }

  // As the schedule makes it of what the ranks send.
  void note_tree_sum(ChunkCost& chunk, int id) const {
    auto const& of = m_graph.chunks[id];
    auto gradient = m_graph.tensors[of.gradient];
    auto received = received_parts(gradient, m_model.ranks);
    gradient.id = 0;
    received.id = 1;
    auto const sum = tree_sum_op(of, received, gradient);
    IdVector<Tensor> const tensors = {gradient, received};
    chunk.tree_sum = op_cost(sum, tensors, m_machine, Lane::compute);
    chunk.host_tree_sum = op_cost(sum, tensors, m_machine, Lane::host);
  }

  Graph const& m_graph;
  Machine const& m_machine;
  std::vector<BackwardGroup> m_groups;
  std::vector<ItemCost> m_costs;  // per op, on the compute lane
  BlockModel m_model;
};

}  // namespace

BlockModel block_model(Graph const& graph, Machine const& machine,
                       std::vector<BlockPolicy> const& policies, std::int64_t ranks) {
  return Builder(graph, machine, ranks).build(policies);
}

}  // namespace spillway
