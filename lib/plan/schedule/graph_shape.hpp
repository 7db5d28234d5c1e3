// GraphShape is a Shape for tell_step.hpp. Its pieces are the ops of a graph under one Plan.
#pragma once

#include <map>
#include <vector>

#include "plan/schedule/draft.hpp"
#include "plan/schedule/streaming.hpp"
#include "plan/schedule/tell_step.hpp"
#include "plan/schedule/update_pieces.hpp"
#include "plan/schedule/variants.hpp"

namespace spillway {

class GraphShape {
 public:
  using Chunks = std::vector<int>;

  // The draft and the variants must outlive this. An inference graph has only a forward pass.
  GraphShape(Draft& draft, Variants const& variants);

  int blocks() const { return static_cast<int>(m_forward.size()); }
  int groups() const { return static_cast<int>(m_draft.groups.size()); }
  int block_of(int group) const { return m_draft.groups[group].block; }
  Chunks const& fetches(int station) const { return m_draft.streaming.fetches[station]; }
  Chunks const& drops(int station) const { return m_draft.streaming.drops[station]; }

  int forward_op(int block, int piece) const { return m_forward[block][piece]; }
  int forward_pieces(int block) const { return static_cast<int>(m_forward[block].size()); }
  template <class Visit>
  void leaving(int block, int piece, Visit visit) const {
    visit_all(m_leaving, forward_op(block, piece), visit);
  }
  int backward_op(int group, int piece) const { return m_draft.groups[group].ops[piece]; }
  int backward_pieces(int group) const {
    return static_cast<int>(m_draft.groups[group].ops.size());
  }
  template <class Visit>
  void coming(int group, int piece, Visit visit) const {
    visit_all(m_draft.reloads, backward_op(group, piece), visit);
  }
  template <class Visit>
  void gradients(int group, int piece, Visit visit) const {
    visit_all(m_whole_after, backward_op(group, piece), visit);
  }
  int parts(int chunk) const { return static_cast<int>(m_parts[chunk].size()); }
  bool exchanges() const { return m_draft.exchanges(); }
  bool reduces_each(int) const { return m_reduces_each; }

  Chunks const& chunks() const { return m_chunks; }
  Chunks const& updated_after(int group) const { return m_updated_after[group]; }
  std::vector<int> const& norm_ops(int chunk) const { return m_norm_ops[chunk]; }
  int loss_group() const { return m_loss_group; }
  int pieces() const { return static_cast<int>(m_pieces.size()); }
  UpdatePiece const& piece(int number) const { return m_pieces[number]; }
  int chunk_of(int piece) const { return m_pieces[piece].chunk; }
  int ahead(int) const { return kSlicesAhead; }

  // These return a gradient's tensor, and which part of a chunk's gradient it is.
  TensorId tensor(GradientId id) const;
  GradientPart const& part(GradientId id) const;

 private:
  template <class T, class Visit>
  static void visit_all(std::map<int, std::vector<T>> const& by_op, int op, Visit visit) {
    auto const found = by_op.find(op);
    if (found == by_op.end()) return;
    for (T const& one : found->second) visit(one);
  }
  void note_forward();
  void note_gradients(Variants const& variants);
  void note_updates();

  Draft& m_draft;
  std::vector<std::vector<int>> m_forward;                // the forward ops of each block
  std::map<int, std::vector<TensorId>> m_leaving;         // tensors to spill after each forward op
  std::map<int, std::vector<GradientId>> m_whole_after;   // gradients by the op that completes them
  std::vector<std::vector<GradientPart const*>> m_parts;  // the parts of each chunk's gradient
  bool m_reduces_each;
  IdVector<std::vector<int>> m_norm_ops;  // the ops that compute each chunk's norm
  int m_loss_group = 0;
  Chunks m_chunks;  // the chunks that are trained
  // Lists the chunks to update after each group. A last entry is for updates after all groups.
  std::vector<Chunks> m_updated_after;
  std::vector<UpdatePiece> m_pieces;
};

}  // namespace spillway
