// These items are a step's updates.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "plan/schedule/gradient_items.hpp"

namespace spillway {

// This layer of ProgramSink hears the events of updates.
class UpdateItems : public GradientItems {
 public:
  using GradientItems::GradientItems;

  void norm(int chunk);
  // Brings what a piece needs and has elsewhere: if `late`, its gradient and what leaves the device
  // with it, else the rest.
  void bring(int piece, bool late);
  // Runs the piece, and takes back what it has changed elsewhere.
  void update(int piece);
  void end_group(int) { m_group_ends.push_back(m_writer.next()); }
  // When all items are there, this gives time to what is asynchronous.
  void set_horizons();

 private:
  Op const& op(UpdatePiece const& piece) const { return m_draft.graph.op(piece.op); }
  BufferId slot(UpdatePiece const& piece, TensorId state);
  std::int64_t largest_slice(Lane lane) const;
  ItemNumber bring(UpdatePiece const& piece, TensorId tensor);
  ItemNumber run(UpdatePiece const& piece);
  void note(ItemNumber item, int chunk) { m_done.push_back({item, chunk, m_group_ends.size()}); }

  std::vector<ItemNumber> m_group_ends;
  std::map<std::tuple<Lane, int, std::size_t>, BufferId> m_slots;  // by lane, slot and operand
  struct Done {
    ItemNumber item;
    int chunk;
    std::size_t group;
  };
  std::vector<Done> m_done;
};

}  // namespace spillway
