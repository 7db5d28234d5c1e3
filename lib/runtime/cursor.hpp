// A Cursor is one thread's walk through the total order of items. Each lane has a Cursor, or
// several lanes share one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// A Cursor counts the items of all lanes as it passes them, so it knows each item's position in its
// lane without asking other threads. It allocates memory in its constructor only.
class Cursor {
 public:
  // The cursor stops at the items of `lanes`, which has one bit for each lane. `sequence` lists the
  // segments of a run (`segment_sequence`). Both references must outlive the cursor.
  Cursor(Program const& program, std::vector<int> const& sequence, unsigned lanes);

  // Returns the next item of the cursor's lanes, or null at the end of the run. Until `pass` is
  // called, it returns the same item again.
  Item const* next();
  void pass();
  void next_run();

  std::uint64_t run() const { return m_run; }          // the number of the run, from 0
  std::size_t instance() const { return m_instance; }  // how many items were passed in this run
  // Returns the micro-batch of the item at the cursor, by its number in the step. Items of the
  // update belong to no micro-batch and get the number of the step's last one.
  std::int64_t micro_batch() const { return m_micro_batch + m_program.items[m_item].micro_batch; }
  // Returns the position of the item's latest instance in its lane, counted from 1 over all runs,
  // or 0 if there was no instance yet.
  std::uint64_t position(ItemNumber item) const {
    return m_position[static_cast<std::size_t>(item)];
  }

 private:
  Program const& m_program;
  std::vector<int> const& m_sequence;
  unsigned m_lanes;
  std::vector<std::uint64_t> m_position;         // what `position` returns, by item number
  std::array<std::uint64_t, kLanes> m_counts{};  // how many items were passed, by lane
  std::uint64_t m_run = 0;
  std::size_t m_segment = 0, m_instance = 0;  // m_segment: the next segment's index in m_sequence
  ItemNumber m_item = 0, m_end = 0;
  std::int64_t m_micro_batch = 0,
               m_next_micro_batch = 0;  // the first micro-batches of this segment and of the next
};

}  // namespace spillway
