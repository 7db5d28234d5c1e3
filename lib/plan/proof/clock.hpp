// Vector clocks of lanes say what is known to be complete when an item starts:
//
//   start(i)        = join over waits w of prefix(lane(w), position(w))
//                     join, on a serial lane, prefix(lane, position - 1);
//                     on another, start of the item before it on the lane
//   prefix(lane, p) = join(prefix(lane, p - 1), start(item p), {lane: p})
//   a happens before b  iff  start(b)[lane(a)] >= position(a)
#pragma once

#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// A clock says how many items of each lane are complete. Positions on a lane count from 1.
using Clock = PerLane<std::int32_t>;

void join(Clock& into, Clock const& other);

// Keeps the clock at which each instance, which is one run of an item, starts. Instances are
// appended one by one, in the order of the program.
class LaneClocks {
 public:
  explicit LaneClocks(std::size_t items) : m_latest(items, 0) {}

  // Returns what the lane's order alone tells its next item.
  Clock by_order(Lane lane) const;
  // Returns what is known once the latest instance of `item` is complete; nothing if there is none.
  Clock after(Item const& item) const;
  // Returns what is known to be complete when `item` starts next: by the order of its lane, and by
  // its waits.
  Clock start(Program const& program, Item const& item) const;

  // Appends an instance that starts with `start`; returns its position.
  std::int32_t append(Item const& item, Clock const& start);

  // Returns the position of an item's latest instance, 0 if there is none.
  std::int32_t latest(ItemNumber item) const { return m_latest[item]; }
  ItemNumber item_at(Lane lane, std::int32_t position) const {
    return m_lanes[lane][position - 1].item;
  }
  // Returns the number of the instance in total order.
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
  IdVector<std::int32_t> m_latest;  // by item
  std::int32_t m_count = 0;         // of instances
};

}  // namespace spillway
