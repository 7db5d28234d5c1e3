// A SegmentWalk knows to which segment and micro-batch the items of a step belong.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/data/program.hpp"

namespace spillway {

// Walks the items that a step runs, in total order. Runs of `middle` may be left out.
class SegmentWalk {
 public:
  explicit SegmentWalk(Program const& program) : m_program(program) {}

  void pass(Item const& item);

  // These functions tell of the item that was passed last. Its micro-batch is counted from 0 in the
  // step, and empty if it has none.
  Segment const& segment() const { return m_program.segments[m_segment]; }
  std::optional<std::int64_t> micro_batch() const;

 private:
  void begin_segment(ItemNumber item);

  Program const& m_program;
  Item const* m_item = nullptr;
  int m_segment = -1;
  std::int64_t m_first = 0, m_next = 0;  // the first micro-batches of this segment and of the next
};

}  // namespace spillway
