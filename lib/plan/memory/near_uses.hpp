// Says when the items of a Program use buffers, and which buffers are used at about the same time.
#pragma once

#include <span>
#include <vector>

#include "plan/memory/movable.hpp"

namespace spillway {

// Items of two lanes that are told so far apart hardly ever wait for each other.
inline constexpr ItemNumber kFar = 128;

// Uses say which items use a buffer: the first one, and the last one on each lane.
struct Uses {
  ItemNumber first = -1, last = -1;
  Lane lane = Lane::compute;   // the first item's lane
  PerLane<ItemNumber> ends{};  // the last item of each lane, or -1 if it has none
  int middle = -1;             // the number of the repeated segment that all of them belong to
  // The items [repeats_from, repeats_from + period) run again: that segment's, or the step's.
  ItemNumber repeats_from = 0, period = 0;
  bool only_ops = true;                      // whether all of them run on the compute lane
  ItemNumber first_stay = 0, last_stay = 0;  // all stays of the buffer lie between these

  Uses() { ends.fill(-1); }
  void add(Item const& item);
  // Say whether the items are near the begin, or the end, of what repeats.
  bool is_early() const { return first - repeats_from < kFar; }
  bool is_late() const { return repeats_from + period - last < kFar; }
};

// Returns the uses of these buffers, in their order.
std::vector<Uses> uses_of(std::span<Movable const> buffers, Program const& program);

// Finds buffers that are in use at the same time as another, or less than kFar items before or
// after it.
class NearUses {
 public:
  // The uses must outlive this object.
  explicit NearUses(std::vector<Uses> const& uses);

  // Lists the numbers of all buffers that are near number `i`, and of some that are not. The list
  // is valid until the next call.
  std::vector<std::size_t> const& of(std::size_t i);

 private:
  std::vector<Uses> const& m_uses;
  // The numbers of buffers by when they are first in use: those that are so for a short time, and
  // the others.
  std::vector<std::size_t> m_short, m_long;
  std::vector<ItemNumber> m_begins;   // when each of m_short is first in use
  std::vector<std::size_t> m_beyond;  // those of m_short that may be near others beyond a border
  std::vector<std::size_t> m_found;
};

}  // namespace spillway
