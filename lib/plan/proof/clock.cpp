#include "plan/proof/clock.hpp"

#include <algorithm>

namespace spillway {

void join(Clock& into, Clock const& other) {
  for (Lane const lane : kLanesInOrder) into[lane] = std::max(into[lane], other[lane]);
}

Clock LaneClocks::by_order(Lane lane) const {
  auto const& entries = m_lanes[lane];
  if (entries.empty()) return {};
  return is_serial(lane) ? entries.back().prefix : entries.back().start;
}

Clock LaneClocks::after(Item const& item) const {
  auto const position = latest(item.number);
  return position == 0 ? Clock{} : m_lanes[item.lane][position - 1].prefix;
}

Clock LaneClocks::start(Program const& program, Item const& item) const {
  Clock clock = by_order(item.lane);
  for (ItemNumber const wait : item.waits) join(clock, after(program.items[wait]));
  return clock;
}

std::int32_t LaneClocks::append(Item const& item, Clock const& start) {
  auto& entries = m_lanes[item.lane];
  Clock prefix = entries.empty() ? Clock{} : entries.back().prefix;
  join(prefix, start);
  auto const position = static_cast<std::int32_t>(entries.size()) + 1;
  prefix[item.lane] = position;
  entries.push_back({item.number, m_count++, start, prefix});
  m_latest[item.number] = position;
  return position;
}

}  // namespace spillway
