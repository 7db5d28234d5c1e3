#include "tests/support/ptx/meetings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spillway::test::ptx {
namespace {

// Returns whether every lane waits for all lanes, which is by far the most frequent case.
bool all_are_members(Lanes const* members) {
  Lanes common = kAllLanes;
  for (unsigned lane = 0; lane < kLanes; ++lane) common &= members[lane];
  return common == kAllLanes;
}

void need_own_bits(Warp const& warp, Lanes const* members, Lanes come) {
  for_each_lane(come, [&](unsigned lane) {
    if ((members[lane] >> lane & 1) == 0)
      complain(warp, lane, fmt::format("is not in its own member mask {:#x}", members[lane]));
  });
}

void need_one_mask(Warp const& warp, Lanes const* members, Lanes ready, Lanes come) {
  for_each_lane(ready, [&](unsigned lane) {
    for_each_lane(members[lane] & come, [&](unsigned other) {
      if (members[other] != members[lane])
        complain(warp, lane,
                 fmt::format("has member mask {:#x}, and lane {} of it has {:#x}", members[lane],
                             other, members[other]));
    });
  });
}

}  // namespace

Lanes complete_lanes(Warp const& warp, Slot slot, Lanes come) {
  need_known(warp, slot, come, "the member mask");
  auto const* const members = warp.lanes<Lanes const>(slot);
  if (come == kAllLanes && all_are_members(members)) return come;
  need_own_bits(warp, members, come);
  Lanes ready = 0;
  for_each_lane(come, [&](unsigned lane) {
    if ((members[lane] & warp.alive & ~come) == 0) ready |= Lanes{1} << lane;
  });
  need_one_mask(warp, members, ready, come);
  return ready;
}

void meet(Warp& warp, Lanes lanes) {
  Seen joined = {};
  for_each_lane(lanes, [&](unsigned lane) {
    if (warp.time[lane] == kMostTime)
      complain(warp, lane, "synchronises more often between two barriers than can be counted");
    for (unsigned other = 0; other < kLanes; ++other)
      joined[other] = std::max(joined[other], warp.seen[lane][other]);
  });
  for_each_lane(lanes, [&](unsigned lane) { joined[lane] = ++warp.time[lane]; });
  for_each_lane(lanes, [&](unsigned lane) { warp.seen[lane] = joined; });
}

}  // namespace spillway::test::ptx
