#include "tests/support/ptx/warp.hpp"

#include <fmt/format.h>

namespace spillway::test::ptx {

Place place_of(Warp const& warp, unsigned lane) {
  return {warp.pc, warp.first_thread + lane, warp.block->at};
}

std::string describe(Run const& run, Place const& place) {
  auto const& kernel = *run.code.kernel;
  auto const& block = run.settings.block;
  bool const is_beyond = place.pc >= kernel.instructions.size();
  auto const where = is_beyond ? std::string("behind its last instruction")
                               : fmt::format("line {}: {}", kernel.instructions[place.pc].line,
                                             kernel.instructions[place.pc].text);
  return fmt::format("kernel {}, {}; thread ({}, {}, {}) of block ({}, {}, {})", kernel.name, where,
                     place.thread % block.x, place.thread / block.x % block.y,
                     place.thread / block.x / block.y, place.block.x, place.block.y, place.block.z);
}

void complain(Warp const& warp, unsigned lane, std::string_view what) {
  throw Complaint(fmt::format("{}; {}", what, describe(warp.block->run, place_of(warp, lane))));
}

void need_known(Warp const& warp, Slot slot, Lanes mask, std::string_view what) {
  auto const unknown = mask & ~warp.known[slot];
  if (unknown != 0) complain(warp, first_lane(unknown), fmt::format("{} was never written", what));
}

}  // namespace spillway::test::ptx
