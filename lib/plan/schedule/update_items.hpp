// These items are the updates of a step.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "plan/schedule/gradient_items.hpp"

namespace spillway {

// This base class of ProgramSink handles the events about updates.
class UpdateItems : public GradientItems {
 public:
  using GradientItems::GradientItems;

  void norm(int chunk);
  // Brings operands that the piece's lane cannot reach: if `late`, the gradient and the operands
  // whose home is the device, otherwise the rest.
  void bring(int piece, bool late);
  // Runs the piece, and takes back the operands that were brought and changed.
  void update(int piece);
  void end_group(int) { m_group_ends.push_back(m_writer.next()); }
  // Sets the horizons of updates that run beside other items. All items must have been written.
  void set_horizons();

 private:
  Op const& op(UpdatePiece const& piece) const { return m_shape.graph().op(piece.op); }
  BufferId slot(UpdatePiece const& piece, TensorId state);
  std::int64_t largest_slice(Lane lane) const;
  ItemNumber bring(UpdatePiece const& piece, TensorId tensor);
  ItemNumber run(UpdatePiece const& piece);
  void note(ItemNumber item, int chunk) { m_done.push_back({item, chunk, m_group_ends.size()}); }

  std::vector<ItemNumber> m_group_ends;
  // The key is lane, slot and operand.
  std::map<std::tuple<Lane, int, std::size_t>, BufferId> m_slots;
  struct Done {
    ItemNumber item;
    int chunk;
    std::size_t group;
  };
  std::vector<Done> m_done;
};

}  // namespace spillway
