#include "plan/bound/step_work.hpp"

#include <algorithm>
#include <set>

#include "graph/sharing.hpp"
#include "plan/schedule/gradient_items.hpp"

namespace spillway {

namespace {

class StepReader {
 public:
  StepReader(Graph const& graph, Machine const& machine, std::int64_t micro_batches,
             std::int64_t ranks)
      : m_graph(graph),
        m_machine(machine),
        m_ranks(ranks),
        m_maker(graph.tensors.size(), -1),
        m_is_saved(graph.tensors.size(), false) {
    for (int b = 0; b < std::ssize(graph.blocks); ++b)
      if (graph.blocks[b].layer) m_work.last_layer = b;
    if (micro_batches > 1)
      for (GradientPart const& part : graph.parts) m_left_out.insert(part.add);
    note_makers();
  }

  StepWork read() {
    m_work.blocks.resize(m_graph.blocks.size());
    find_turn();
    note_beginning();
    for (Op const& op : m_graph.ops) note_pass(op);
    for (int b = 0; b <= m_work.last_layer; ++b) note_saved(b);
    note_ops_of_chunks();
    for (Chunk const& chunk : m_graph.chunks) note_chunk(chunk);
    return std::move(m_work);
  }

 private:
  bool runs(Op const& op) const {
    bool const passes = op.phase == Phase::forward || op.phase == Phase::backward;
    return passes && !op.elided && !m_left_out.contains(op.id);
  }
  bool is_behind_layers(Op const& op) const { return op.block > m_work.last_layer; }

  void note_makers() {
    for (Op const& op : m_graph.ops) {
      if (!runs(op) || op.phase != Phase::forward || is_behind_layers(op)) continue;
      for (View const& view : present(op.outputs))
        if (m_graph.tensor(view).is_activation()) m_maker[view.tensor] = op.id;
    }
    for (Op const& op : m_graph.ops) {
      if (op.phase != Phase::backward || is_behind_layers(op)) continue;
      for (View const& view : present(op.inputs))
        if (m_maker[view.tensor] >= 0) m_is_saved[view.tensor] = true;
    }
  }

  // Returns the bytes that the op needs in device memory besides chunks and what layers save.
  std::int64_t passing_bytes(Op const& op) const {
    std::set<TensorId> operands;
    for (auto const* views : {&op.inputs, &op.outputs})
      for (View const& view : present(*views)) operands.insert(view.tensor);
    auto bytes = op.workspace_bytes;
    for (TensorId const id : operands)
      if (m_graph.tensors[id].is_activation() && !m_is_saved[id])
        bytes += m_graph.tensors[id].bytes();
    return bytes;
  }

  void find_turn() {
    for (Op const& op : m_graph.ops) {
      if (!runs(op) || !is_behind_layers(op)) continue;
      auto const bytes = passing_bytes(op);
      if (m_turn >= 0 && bytes <= m_work.turn_bytes) continue;
      m_turn = op.id;
      m_work.turn_bytes = bytes;
    }
  }

  void note_beginning() {
    auto const first = std::ranges::find_if(m_graph.ops, [&](Op const& op) { return runs(op); });
    for (View const& view : present(first->inputs)) {
      auto const& tensor = m_graph.tensor(view);
      if (tensor.role != Role::parameter) continue;
      m_work.begins_with_trained |= m_graph.chunks[tensor.chunk].trainable;
    }
  }

  Busy busy(Op const& op, IdVector<Tensor> const& tensors, Lane lane) const {
    return busy_with(op_cost(op, tensors, m_machine, lane), lane, m_machine);
  }
  LaneWork work(Op const& op, IdVector<Tensor> const& tensors, std::int64_t parts) const {
    double const share = 1.0 / static_cast<double>(parts);
    return {share * busy(op, tensors, Lane::compute), share * busy(op, tensors, Lane::host)};
  }

  // Ops are numbered in the order in which they run, but that groups of the backward pass may part
  // them.
  void note_pass(Op const& op) {
    if (!runs(op)) return;
    auto const cost = busy(op, m_graph.tensors, Lane::compute);
    if (is_behind_layers(op)) {
      auto& sum = op.id < m_turn    ? m_work.before_turn
                  : op.id == m_turn ? m_work.at_turn
                                    : m_work.after_turn;
      return add(sum, cost);
    }
    auto& block = m_work.blocks[static_cast<std::size_t>(std::max(0, op.block))];
    add(op.phase == Phase::forward ? block.forward : block.backward, cost);
  }

  void note_saved(int number) {
    Block const& block = m_graph.blocks[number];
    ForwardOps ops;
    std::vector<int> places(static_cast<std::size_t>(block.last_op - block.first_op), -1);
    for (int id = block.first_op; id < block.last_op; ++id) {
      Op const& op = m_graph.op(id);
      if (!runs(op)) continue;
      auto& made = ops.emplace_back();
      made.place = id - block.first_op;
      made.again = busy(op, m_graph.tensors, Lane::compute);
      for (View const& view : present(op.outputs)) {
        if (m_maker[view.tensor] != id) continue;
        auto const bytes = m_graph.tensor(view).bytes();
        (m_is_saved[view.tensor] ? made.saved_bytes : made.passed_bytes) += bytes;
      }
      for (View const& view : present(op.inputs)) {
        int const maker = m_maker[view.tensor];
        if (maker < block.first_op || maker >= id || m_is_saved[view.tensor]) continue;
        made.needs.push_back(places[static_cast<std::size_t>(maker - block.first_op)]);
      }
      places[static_cast<std::size_t>(id - block.first_op)] = static_cast<int>(ops.size()) - 1;
    }
    auto const alike = std::ranges::find(m_work.saved, ops, &SavedKind::ops);
    if (alike != m_work.saved.end())
      alike->blocks.push_back(number);
    else
      m_work.saved.push_back({std::move(ops), {number}});
  }

  // Lists for each chunk the ops that read its parameters or work on its gradient and state.
  void note_ops_of_chunks() {
    m_ops_of.resize(m_graph.chunks.size());
    for (Op const& op : m_graph.ops) {
      auto const add = [&](int chunk) {
        if (chunk < 0) return;
        auto& ops = m_ops_of[static_cast<std::size_t>(chunk)];
        if (ops.empty() || ops.back() != op.id) ops.push_back(op.id);
      };
      if (op.phase == Phase::norm || op.phase == Phase::update) add(op.chunk);
      for (View const& view : present(op.inputs))
        if (m_graph.tensor(view).role == Role::parameter) add(m_graph.tensor(view).chunk);
    }
  }

  void note_chunk(Chunk const& chunk) {
    ChunkWork work;
    bool read = false;
    for (int const id : m_ops_of[static_cast<std::size_t>(chunk.id)]) {
      Op const& op = m_graph.op(id);
      bool const reads = std::ranges::any_of(
          present(op.inputs), [&](View const& view) { return view.tensor == chunk.parameter; });
      if (!reads || !runs(op)) continue;
      work.read_at_turn |= op.id == m_turn;
      bool const behind_turn = !is_behind_layers(op) || op.id > m_turn;
      work.read_backward |= op.phase == Phase::backward && behind_turn;
      if (read || op.phase != Phase::forward) continue;
      read = true;
      work.first_block = std::max(0, op.block);
      work.read_before_turn = !is_behind_layers(op) || op.id < m_turn;
    }
    work.trainable = chunk.trainable;
    work.parameter_bytes = bytes(chunk.parameter);
    for (State const& state : chunk.states) {  // without what always lies where updates run
      if (block_elements(chunk, 1, m_graph.tensors[state.tensor]) == 1)
        work.state_bytes += bytes(state.tensor);
    }
    if (chunk.trainable) note_gradient(chunk, work);
    m_work.chunks.push_back(std::move(work));
  }

  std::int64_t bytes(TensorId id) const { return id < 0 ? 0 : m_graph.tensors[id].bytes(); }

  void note_gradient(Chunk const& chunk, ChunkWork& work_of) const {
    auto gradient = m_graph.tensors[chunk.gradient];
    work_of.gradient_bytes = gradient.bytes();
    auto received = received_parts(gradient, m_ranks);
    gradient.id = 0;
    received.id = 1;
    IdVector<Tensor> const tensors = {gradient, received};
    bool const each = m_graph.arithmetic.reduction == Reduction::each;
    work_of.accumulate = work(op_on_chunk(OpKind::accumulate, chunk, gradient, gradient), tensors,
                              each ? m_ranks : 1);
    if (m_ranks > 1)
      work_of.tree_sum = work(op_on_chunk(OpKind::tree_sum, chunk, received, gradient), tensors, 1);
    for (int const id : m_ops_of[static_cast<std::size_t>(chunk.id)]) {
      Op const& op = m_graph.op(id);
      if (op.chunk != chunk.id) continue;
      if (op.phase == Phase::norm) add_work(work_of.norm, work(op, m_graph.tensors, m_ranks));
      if (op.phase == Phase::update) add_work(work_of.update, work(op, m_graph.tensors, m_ranks));
    }
  }
  static void add_work(LaneWork& sum, LaneWork const& work) {
    add(sum.compute, work.compute);
    add(sum.host, work.host);
  }

  Graph const& m_graph;
  Machine const& m_machine;
  std::int64_t m_ranks;
  std::vector<int> m_maker;      // the op of a layer, or before, that makes a tensor; or -1
  std::vector<bool> m_is_saved;  // whether the backward pass of a layer, or before, reads a tensor
  std::vector<std::vector<int>> m_ops_of;
  std::set<int> m_left_out = {};  // ops that run only if a step has one micro-batch
  int m_turn = -1;
  StepWork m_work;
};

}  // namespace

StepWork step_work(Graph const& graph, Machine const& machine, std::int64_t micro_batches,
                   std::int64_t ranks) {
  return StepReader(graph, machine, micro_batches, ranks).read();
}

}  // namespace spillway
