// Adds forms of instructions by which lanes of a warp tell each other something. These run once all
// lanes that a member mask names have come to them.
#pragma once

#include "tests/support/ptx/lanes.hpp"

namespace spillway::test::ptx {

inline Operation& add_exchange(Table& table, std::string const& opcode, std::string const& operands,
                               Execute execute, std::uint8_t mode = 0) {
  auto& o = table.add(opcode, operands, execute);
  o.flow = Flow::warp_sync;
  o.mode = mode;
  o.tracks_known = true;
  return o;
}

// Adds an instruction without a member mask, in which all lanes of the warp take part.
inline Operation& add_for_warp(Table& table, std::string const& opcode, std::string const& operands,
                               Execute execute) {
  auto& o = add_exchange(table, opcode, operands, execute);
  o.members = kOnes;
  return o;
}
inline void need_all_lanes(Warp const& warp, Lanes mask) {
  if (mask != kAllLanes) complain(warp, first_lane(mask), "not all lanes of the warp take part");
}

}  // namespace spillway::test::ptx
