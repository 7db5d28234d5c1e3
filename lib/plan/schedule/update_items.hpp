// Writes the items that bring operands to updates, run the updates, and take results back.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "plan/schedule/gradient_items.hpp"

namespace spillway {

// UpdateItems is a base class of ProgramSink. It turns events about updates into items.
class UpdateItems : public GradientItems {
 public:
  using GradientItems::GradientItems;

  void norm(int chunk);
  // Brings operands of the piece that its lane cannot reach: if `late`, the gradient and operands
  // whose home is on the device, otherwise all other operands.
  void bring(int piece, bool late);
  // Runs the piece, and takes back the operands that were brought to it and have changed.
  void update(int piece);
  void gather_parameters(int chunk);
  void end_group(int) { m_group_ends.push_back(m_writer.next()); }
  // Sets the horizons of updates outside the compute lane. All items must have been written.
  void set_horizons();

 protected:
  // Ranks tell each other the norms of their slices, if there are such norms.
  void gather_norms();
  void gather_from_ranks(TensorId slice, Chunk const& chunk, BufferId there,
                         bool if_committed = false);

 private:
  int norm_of_slice(Op const& whole, TensorId slice);
  Op const& op(UpdatePiece const& piece) const { return m_shape.graph().op(piece.op); }
  BufferId slot(UpdatePiece const& piece, TensorId state);
  std::int64_t largest_part(Lane lane, std::size_t operand) const;
  ItemNumber bring(UpdatePiece const& piece, TensorId tensor);
  ItemNumber run(UpdatePiece const& piece);
  void note(ItemNumber item, int chunk) { m_done.push_back({item, chunk, m_group_ends.size()}); }

  bool m_norms_to_gather = false;
  // Holds the last copy of parameters that ranks have gathered beside the device.
  struct Gathered {
    ItemNumber copied = -1;
    std::size_t segment = 0;
  };
  Gathered m_gathered;
  std::map<int, ItemNumber> m_sent;  // the first item that sends each chunk's parameters to all
  std::vector<ItemNumber> m_group_ends;
  // Maps a lane, the number of a slot and the index of an operand to the buffer of the slot.
  std::map<std::tuple<Lane, int, std::size_t>, BufferId> m_slots;
  struct Done {
    ItemNumber item;
    int chunk;
    std::size_t group;
  };
  std::vector<Done> m_done;
};

}  // namespace spillway
