// A cursor is one thread's walk through the total order. Each lane has one, or several lanes share
// one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// Counts the items of all lanes as it passes them, so it knows each item's position in its lane
// without asking other threads. Allocates memory in its constructor only.
class Cursor {
 public:
  // It stops at the items of `lanes`, one bit for each lane. Both references outlive it.
  Cursor(Program const& program, std::vector<int> const& sequence, unsigned lanes);

  // Returns the next item of its lanes, or null at the end of the run. It stays there until `pass`.
  Item const* next();
  void pass();
  void next_run();

  std::uint64_t run() const { return m_run; }          // counted from 0
  std::size_t instance() const { return m_instance; }  // number of items passed in this run
  // Returns the number of the item's micro-batch in the step; an item of the step itself has the
  // last one's number.
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
  std::vector<std::uint64_t> m_position;         // indexed by item
  std::array<std::uint64_t, kLanes> m_counts{};  // items passed, by lane
  std::uint64_t m_run = 0;
  std::size_t m_segment = 0, m_instance = 0;  // m_segment: index of the next one in m_sequence
  ItemNumber m_item = 0, m_end = 0;
  std::int64_t m_micro_batch = 0,
               m_next_micro_batch = 0;  // the first of this segment, and of the next one
};

}  // namespace spillway
