// A vector clock says how many items of each lane are known to be complete. start(i) is the clock
// when item i starts, prefix(lane, p) is the clock when the first p items of a lane are complete,
// and a join of clocks takes the larger number of each lane.
//
//   start(i)        = join of prefix(lane(w), position(w)) for all waits w of i, and of
//                     prefix(lane(i), position(i) - 1) if the lane of i is serial,
//                     or else start(item before i on its lane)
//   prefix(lane, p) = join(prefix(lane, p - 1), start(item p), {lane: p})
//   a happens before b  iff  start(b)[lane(a)] >= position(a)
#pragma once

#include <algorithm>

#include "plan/data/program.hpp"

namespace spillway {

// A Clock says how many items of each lane are complete. Positions on a lane count from 1.
using Clock = PerLane<std::int32_t>;

inline void join(Clock& into, Clock const& other) {
  for (Lane const lane : kLanesInOrder) into[lane] = std::max(into[lane], other[lane]);
}

// LaneClocks keep the clock at which each instance, which is one run of an item, starts. Instances
// are appended one by one, in the order of the program.
class LaneClocks {
 public:
  explicit LaneClocks(std::size_t items) : m_latest(items, 0) {}

  // Returns what is known to be complete when the lane's next item starts, from the order of the
  // lane alone, without the item's waits.
  Clock by_order(Lane lane) const {
    auto const& entries = m_lanes[lane];
    if (entries.empty()) return {};
    return is_serial(lane) ? entries.back().prefix : entries.back().start;
  }
  // Returns what is known to be complete once the latest instance of `item` is complete, or an
  // empty clock if `item` has no instance.
  Clock after(Item const& item) const {
    auto const position = latest(item.number);
    return position == 0 ? Clock{} : m_lanes[item.lane][position - 1].prefix;
  }
  // Returns what is known to be complete when `item` starts next, from the order of its lane and
  // from its waits.
  Clock start(Program const& program, Item const& item) const {
    Clock clock = by_order(item.lane);
    for (ItemNumber const wait : item.waits) join(clock, after(program.items[wait]));
    return clock;
  }

  // Appends an instance that starts at the clock `start`. Returns its position on the lane.
  std::int32_t append(Item const& item, Clock const& start) {
    auto& entries = m_lanes[item.lane];
    Clock prefix = entries.empty() ? Clock{} : entries.back().prefix;
    join(prefix, start);
    auto const position = static_cast<std::int32_t>(entries.size()) + 1;
    prefix[item.lane] = position;
    entries.push_back({item.number, m_count++, start, prefix});
    m_latest[item.number] = position;
    return position;
  }

  // Returns the position of an item's latest instance on its lane, or 0 if it has none.
  std::int32_t latest(ItemNumber item) const { return m_latest[item]; }
  ItemNumber item_at(Lane lane, std::int32_t position) const {
    return m_lanes[lane][position - 1].item;
  }
  // Returns the number that the instance at `position` of a lane has in the order of the program.
  std::int32_t order_at(Lane lane, std::int32_t position) const {
    return m_lanes[lane][position - 1].order;
  }

 private:
  struct Entry {
    ItemNumber item;
    std::int32_t order;
    Clock start, prefix;
  };
  PerLane<IdVector<Entry>> m_lanes;
  IdVector<std::int32_t> m_latest;  // the position of each item's latest instance on its lane
  std::int32_t m_count = 0;         // the number of instances that were appended
};

}  // namespace spillway
