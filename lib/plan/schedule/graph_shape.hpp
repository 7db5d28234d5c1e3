// GraphShape is a Shape (see tell_step.hpp) whose pieces are the ops of a graph under one Plan.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "plan/schedule/streaming.hpp"
#include "plan/schedule/tell_step.hpp"
#include "plan/schedule/update_pieces.hpp"

namespace spillway {

// A saved tensor of one of the micro-batches that walk together is reloaded.
struct Reload {
  TensorId tensor;
  int member;
};
// Lists by member and backward op what is reloaded just before that member runs the op.
using Reloads = std::vector<IdVector<std::vector<Reload>>>;

class GraphShape {
 public:
  using Chunks = std::vector<int>;

  // The graph and the plan must outlive the GraphShape, which refers to them.
  GraphShape(Graph const& graph, Plan const& plan, std::int64_t micro_batches, std::int64_t ranks);

  Graph const& graph() const { return m_graph; }
  Plan const& plan() const { return m_plan; }
  std::int64_t micro_batches() const { return m_micro_batches; }
  std::int64_t ranks() const { return m_ranks; }
  Fates const& fates() const { return m_fates; }
  Chunk const& chunk(int id) const { return m_graph.chunks[id]; }

  int blocks() const { return static_cast<int>(m_graph.blocks.size()); }
  int groups() const { return static_cast<int>(m_groups.size()); }
  int block_of(int group) const { return m_groups[group].block; }
  Chunks const& fetches(int station) const { return m_streaming.fetches[station]; }
  Chunks const& drops(int station) const { return m_streaming.drops[station]; }

  // Returns a station's ops in order. In a group, forward ops that run again come first.
  std::vector<int> const& station_ops(int station) const { return m_stations[station]; }
  int forward_op(int block, int piece) const { return m_stations[block][piece]; }
  int forward_pieces(int block) const { return static_cast<int>(m_stations[block].size()); }
  void leaving(int block, int piece, auto visit) const {
    std::ranges::for_each(m_leaving[forward_op(block, piece)], visit);
  }
  std::vector<int> const& backward_ops(int group) const { return m_groups[group].ops; }
  int backward_op(int group, int piece) const { return backward_ops(group)[piece]; }
  int backward_pieces(int group) const { return static_cast<int>(backward_ops(group).size()); }
  void coming(Station const& at, int piece, auto visit) const {
    auto const op = backward_op(at.group, piece);
    if (auto const found = m_hoisted.find(at.members); found != m_hoisted.end()) {
      for (Reload const& it : found->second[static_cast<std::size_t>(at.batch.member)][op])
        visit(it.tensor, it.member);
    } else {
      for (TensorId const tensor : m_reloads[op]) visit(tensor, at.batch.member);
    }
  }
  void gradients(int group, int piece, auto visit) const {
    std::ranges::for_each(m_whole_after[backward_op(group, piece)], visit);
  }
  int parts(int chunk) const { return static_cast<int>(m_parts[chunk].size()); }
  bool exchanges() const { return m_ranks > 1; }
  bool sums_visit(int chunk) const {
    return may_visit(m_plan, chunk) && parts(chunk) == 0 && !(exchanges() && reduces_each(chunk));
  }
  bool sums_on_drive(int chunk) const { return m_plan.chunks[chunk].gradients == Tier::nvme; }
  bool is_shared_out(int chunk) const { return m_plan.chunks[chunk].shard != Shard::none; }
  bool has_copies(int chunk) const { return !is_shared_out(chunk) || m_plan.sharers > 0; }
  bool reduces_each(int) const { return m_graph.arithmetic.reduction == Reduction::each; }

  Chunks const& chunks() const { return m_chunks; }
  Chunks const& updated_after(int group) const { return m_updated_after[group]; }
  std::vector<int> const& norm_ops(int chunk) const { return m_norm_ops[chunk]; }
  int loss_group() const { return m_loss_group; }
  int pieces() const { return static_cast<int>(m_pieces.size()); }
  UpdatePiece const& piece(int number) const { return m_pieces[number]; }
  int chunk_of(int piece) const { return m_pieces[piece].chunk; }
  int ahead(int) const { return kSlicesAhead; }

  // `tensor` returns the tensor that an id names, and `part` returns the part that an id names.
  TensorId tensor(GradientId id) const;
  GradientPart const& part(GradientId id) const;

  // If a step has several micro-batches, each part of a gradient is written to a tensor of its own,
  // and ops that add parts to gradients are left out. `part_written` returns the part that an op
  // writes to an output in such a step, or null.
  GradientPart const* part_written(int op, std::size_t output) const;
  bool makes_part(int op) const;
  bool is_left_out(int op) const;

  // Lists for each backward op the tensors that are reloaded before it, which is the first of its
  // group, unless `hoist` has moved the reloads of so many members.
  IdVector<std::vector<TensorId>> const& reloads() const { return m_reloads; }
  void hoist(int members, Reloads reloads) { m_hoisted[members] = std::move(reloads); }

 private:
  void note_spills();
  void note_gradients();
  IdVector<int> ready_after() const;
  void note_updates();

  Graph const& m_graph;
  Plan const& m_plan;
  std::int64_t m_micro_batches, m_ranks;
  Fates m_fates;
  IdVector<BackwardGroup> m_groups;
  IdVector<std::vector<int>> m_stations;
  Streaming m_streaming;
  IdVector<std::vector<TensorId>> m_leaving;  // lists tensors to spill after each forward op
  IdVector<std::vector<TensorId>> m_reloads;
  std::map<int, Reloads> m_hoisted;  // by the number of micro-batches that walk together
  IdVector<std::vector<GradientId>> m_whole_after;  // lists the gradients that each op completes
  IdVector<IdVector<GradientPart const*>> m_parts;  // lists the parts of each chunk's gradient
  IdVector<std::vector<int>> m_norm_ops;            // lists ops that compute each gradient's norm
  int m_loss_group = 0;
  Chunks m_chunks;  // lists the chunks that are trained
  // Lists the chunks to update after each group. The last entry is for updates after all groups.
  IdVector<Chunks> m_updated_after;
  std::vector<UpdatePiece> m_pieces;
};

}  // namespace spillway
