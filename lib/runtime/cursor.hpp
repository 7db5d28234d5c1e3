// A cursor is a thread's own walk of the total order. There is one for each lane, or for a group of
// lanes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// Counts the items of all lanes as it passes them, so it knows every item's position in its lane
// without asking anybody. Allocates in its constructor only.
class Cursor {
 public:
  // `lanes` are bits of the lanes whose items it stops at. Both references outlive it.
  Cursor(Program const& program, std::vector<int> const& sequence, unsigned lanes);

  // Returns the next item of its lanes, where it stays until `pass`, or null at the end of the run.
  Item const* next();
  void pass();
  void next_run();

  std::uint64_t run() const { return m_run; }          // counted from 0
  std::size_t instance() const { return m_instance; }  // counts the items of the run
  // Returns the item's micro-batch, counted over the step; for an item of the step itself, the last
  // one.
  std::int64_t micro_batch() const { return m_micro_batch + m_program.items[m_item].micro_batch; }
  // Returns the position of the item's latest instance, counted over all runs, or 0 if there was
  // none yet.
  std::uint64_t position(ItemNumber item) const {
    return m_position[static_cast<std::size_t>(item)];
  }

 private:
  Program const& m_program;
  std::vector<int> const& m_sequence;
  unsigned m_lanes;
  std::vector<std::uint64_t> m_position;         // by item
  std::array<std::uint64_t, kLanes> m_counts{};  // passed
  std::uint64_t m_run = 0;
  std::size_t m_segment = 0, m_instance = 0;  // m_segment: of m_sequence, the next one
  ItemNumber m_item = 0, m_end = 0;
  std::int64_t m_micro_batch = 0,
               m_next_micro_batch = 0;  // the first of this segment, and of the next one
};

}  // namespace spillway
