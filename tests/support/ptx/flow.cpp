// Lists the opcodes that branch, end, wait at barriers or fence. run_warp.cpp runs all that changes
// which lanes go on.
#include "tests/support/ptx/lanes.hpp"

namespace spillway::test::ptx {
namespace {

// A fence has nothing to do, because all threads see every write at once.
void nothing(Warp& /*warp*/, Operation const& /*o*/, Lanes /*mask*/) {}

void stop(Warp& warp, Operation const& /*o*/, Lanes mask) {
  complain(warp, first_lane(mask), "the kernel traps, or stops at a breakpoint");
}

}  // namespace

void add_flow(Table& table) {
  table.add("bra", "l", nullptr).flow = Flow::branch;
  table.ignore("bra", "uni");
  table.add("ret", "", nullptr).flow = Flow::leave;
  table.ignore("ret", "uni");
  table.add("exit", "", nullptr).flow = Flow::leave;
  for (auto const* const opcode : {"trap", "brkpt"})
    table.add(opcode, "", stop).tracks_known = true;
  for (auto const* const opcode : {"bar.sync", "barrier.sync"})
    table.add(opcode, "4 44", nullptr).flow = Flow::block_sync;
  table.ignore("bar", "cta");
  table.ignore("barrier", "cta aligned");
  table.add("bar.warp.sync", "k", nullptr).flow = Flow::warp_sync;
  for (auto const* const opcode : {"membar", "fence", "fence.sc", "fence.acq_rel"})
    table.add(opcode, "", nothing).tracks_known = true;
  table.ignore("membar", "cta gl sys");
  table.ignore("fence", "cta cluster gpu sys");
  table.add("nanosleep.u32", "4", nothing).tracks_known = true;
}

}  // namespace spillway::test::ptx
