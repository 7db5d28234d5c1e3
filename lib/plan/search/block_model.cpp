#include "plan/search/block_model.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "graph/sharing.hpp"
#include "plan/schedule/gradient_items.hpp"
#include "plan/search/sharding.hpp"

namespace spillway {

namespace {

class Builder {
 public:
  Builder(Graph const& graph, Machine const& machine, std::int64_t ranks)
      : m_graph(graph), m_machine(machine) {
    m_model.ranks = ranks;
    m_model.reduces_each = graph.arithmetic.reduction == Reduction::each;
    m_model.blocks.resize(graph.blocks.size());
    m_model.chunks.resize(graph.chunks.size());
  }

  BlockModel build(std::vector<BlockPolicy> const& policies,
                   std::vector<std::int64_t> const& sharers) {
    note_costs(policies);
    for (Chunk const& chunk : m_graph.chunks) note(chunk);
    note_parts();
    for (Op const& op : m_graph.ops) note(op);
    note_readers();
    for (auto const count : sharers) share_out(m_model, count);
    return std::move(m_model);
  }

 private:
  LaneCosts costs(Op const& op, IdVector<Tensor> const& tensors) const {
    return {op_cost(op, tensors, m_machine, Lane::compute),
            op_cost(op, tensors, m_machine, Lane::host)};
  }

  void note_costs(std::vector<BlockPolicy> const& policies) {
    IdVector<ItemCost> costs;  // the cost of each op on the compute lane
    for (Op const& op : m_graph.ops)
      costs.push_back(op.elided ? ItemCost{} : this->costs(op, m_graph.tensors).compute);
    for (int b = 0; b < std::ssize(m_graph.blocks); ++b) {
      Block const& block = m_graph.blocks[b];
      m_model.blocks[b].layer = block.layer;
      if (block.layer) m_model.last_layer = b;
      for (int op = block.first_op; op < block.last_op; ++op)
        add(m_model.blocks[b].forward, costs[op]);
    }
    for (BlockPolicy const policy : policies) {
      for (int b = 0; PolicyCost const& cost : policy_costs(m_graph, policy, costs))
        m_model.blocks[b++].policies[policy] = cost;
    }
  }

  std::int64_t bytes(TensorId id) const { return id < 0 ? 0 : m_graph.tensors[id].bytes(); }

  void note(Chunk const& chunk) {
    auto& cost = m_model.chunks[chunk.id];
    cost.elements = chunk.elements;
    cost.parameter_bytes = cost.home_bytes = bytes(chunk.parameter);
    cost.trainable = chunk.trainable;
    for (State const& state : chunk.states) {
      bool const of_blocks = block_elements(chunk, 1, m_graph.tensors[state.tensor]) > 1;
      (of_blocks ? cost.scale_bytes : cost.optimizer_bytes) += bytes(state.tensor);
    }
    if (chunk.trainable) m_model.trained.push_back(chunk.id);
    if (chunk.trainable) cost.gradient = gradient_cost(chunk, chunk.gradient);
    cost.held_gradient_bytes = cost.gradient.bytes;
  }

  // Returns the costs of summing up the gradient tensor `id` over micro-batches and ranks.
  GradientCost gradient_cost(Chunk const& chunk, TensorId id) const {
    auto gradient = m_graph.tensors[id];
    auto received = received_parts(gradient, m_model.ranks);
    gradient.id = 0;
    received.id = 1;
    IdVector<Tensor> const tensors = {gradient, received};
    GradientCost cost;
    cost.bytes = gradient.bytes();
    cost.accumulate = costs(op_on_chunk(OpKind::accumulate, chunk, gradient, gradient), tensors);
    if (m_model.ranks > 1)
      cost.tree_sum = costs(op_on_chunk(OpKind::tree_sum, chunk, received, gradient), tensors);
    return cost;
  }

  void note_parts() {
    std::set<std::pair<int, int>> makers;  // ops that make or add gradient parts, with outputs
    for (GradientPart const& part : m_graph.parts) {
      makers.insert({part.op, part.output});
      makers.insert({part.add, 0});
      auto const cost = gradient_cost(m_graph.chunks[part.chunk], part.tensor);
      m_model.chunks[part.chunk].parts.push_back({cost, m_graph.op(part.op).block, part.add < 0});
    }
    for (Op const& op : m_graph.ops) {
      if (op.phase != Phase::backward) continue;
      for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        View const& view = op.outputs[i];
        if (!is_present(view) || makers.contains({op.id, static_cast<int>(i)})) continue;
        Tensor const& tensor = m_graph.tensor(view);
        if (tensor.role == Role::gradient) m_model.chunks[tensor.chunk].own_block = op.block;
      }
    }
  }

  void note(Op const& op) {
    auto& block = m_model.blocks[std::max(0, op.block)];
    if (op.phase == Phase::norm) m_model.chunks[op.chunk].norm = costs(op, m_graph.tensors);
    if (op.phase == Phase::update) {
      m_model.chunks[op.chunk].whole_chunk = op.whole_chunk;
      m_model.chunks[op.chunk].update_workspace_bytes = op.workspace_bytes;
      m_model.chunks[op.chunk].update = costs(op, m_graph.tensors);
    }
    if (op.phase == Phase::forward) note_parameters(op, block.chunks);
    if (op.phase == Phase::forward && !op.elided) note_parameters(op, block.forward_chunks);
    if (op.phase == Phase::backward) note_parameters(op, block.backward_chunks);
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
    for (int b = 0; b < blocks; ++b) {
      for (int const id : m_model.blocks[b].chunks) {
        auto& chunk = m_model.chunks[id];
        if (chunk.first_block < 0) chunk.first_block = b;
        chunk.last_block = b;
      }
      for (int const id : m_model.blocks[b].forward_chunks) m_model.chunks[id].readers.push_back(b);
    }
    for (int station = blocks; station < 2 * blocks; ++station) {
      for (int const id : m_model.blocks[2 * blocks - 1 - station].backward_chunks)
        m_model.chunks[id].readers.push_back(station);
    }
  }

  Graph const& m_graph;
  Machine const& m_machine;
  BlockModel m_model;
};

}  // namespace

PerShard const& BlockModel::shared_by(std::int64_t sharers) const {
  auto const of_all = sharers == 0 ? ranks : sharers;
  auto const found = std::ranges::find(shared, of_all, &SharedCosts::sharers);
  check(found != shared.end(), "an estimate", "has no costs for so many ranks that share out");
  return found->chunks;
}

BlockModel block_model(Graph const& graph, Machine const& machine,
                       std::vector<BlockPolicy> const& policies, std::int64_t ranks,
                       std::vector<std::int64_t> const& sharers) {
  return Builder(graph, machine, ranks)
      .build(policies, sharers.empty() ? std::vector{ranks} : sharers);
}

}  // namespace spillway
