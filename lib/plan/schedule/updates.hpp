// The updates of a step while it is being scheduled.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/schedule/update_pieces.hpp"

namespace spillway {

// Where nothing waits for the norm of all gradients (Plan::redo is false), the last micro-batch
// commits as soon as its loss is known and every chunk is updated beside the backward ops that
// follow; else all are updated once norms and commit are known, in the order in which the next
// forward needs them.
class Updates {
 public:
  explicit Updates(Draft& draft);

  // After its backward group, counted from 0; once more after the last, for what comes late.
  void after_group(std::size_t group);
  // The segment "update".
  void after_backward();

 private:
  bool early() const { return !m_draft.plan.redo; }
  UpdatePiece const& piece(int i) const { return m_pieces[static_cast<std::size_t>(i)]; }
  Op const& op(UpdatePiece const& piece) const;
  BufferId slot(UpdatePiece const& piece, TensorId state);
  std::int64_t largest_slice(Lane lane) const;
  void bring_ahead();
  void update(int chunk);
  void run(UpdatePiece const& piece);
  ItemNumber run_whole(UpdatePiece const& piece);
  ItemNumber run_slice(UpdatePiece const& piece);
  void norm(int chunk);
  ItemNumber first_reader(int chunk);
  void set_horizons();

  Draft& m_draft;
  ProgramWriter& m_writer;
  std::size_t m_loss_group;
  std::vector<std::vector<int>> m_chunks;  // by the group after which they are updated
  std::vector<UpdatePiece> m_pieces;       // in order
  std::multimap<int, int> m_norm_ops;      // by chunk
  int m_next = 0;                          // piece
  int m_complete = 0;                      // pieces before this one have whole gradients
  int m_away_brought = 0, m_brought = 0;   // up to which piece: what is not on the device; all
  std::vector<ItemNumber> m_group_ends;
  std::map<std::tuple<Lane, int, std::size_t>, BufferId> m_slots;  // lane, slot, operand
  struct Done {
    ItemNumber item;
    int chunk;
    std::size_t group;
  };
  std::vector<Done> m_done;
  std::vector<ItemNumber> m_first_readers;  // by buffer; empty: not asked for yet
};

}  // namespace spillway
