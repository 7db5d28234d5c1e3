#include "plan/trace/segment_walk.hpp"

#include <algorithm>

namespace spillway {

void SegmentWalk::pass(Item const& item) {
  bool const same = m_item != nullptr && item.number > m_item->number &&
                    item.number < m_program.segments[m_segment].last;
  if (!same) begin_segment(item.number);
  m_item = &item;
}

void SegmentWalk::begin_segment(ItemNumber item) {
  auto const& segments = m_program.segments;
  bool const was_middle = m_segment >= 0 && segments[m_segment].is_middle();
  auto const holds = [item](Segment const& s) { return s.first <= item && item < s.last; };
  m_segment = static_cast<int>(std::ranges::find_if(segments, holds) - segments.begin());
  auto const together = segments[m_segment].micro_batches;
  // Behind the runs of `middle`, of which some may be left out, come the last micro-batches.
  bool const is_last = was_middle && together > 0 && !segments[m_segment].is_middle();
  m_first = is_last ? m_program.micro_batches - together : m_next;
  m_next = m_first + together;
}

std::optional<std::int64_t> SegmentWalk::micro_batch() const {
  if (m_item->micro_batch < 0 || segment().micro_batches == 0) return {};
  return m_first + m_item->micro_batch;
}

}  // namespace spillway
