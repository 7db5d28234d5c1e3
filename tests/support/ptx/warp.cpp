#include "tests/support/ptx/warp.hpp"

#include <fmt/format.h>

namespace spillway::test::ptx {

std::string place_of(Warp const& warp, unsigned lane) {
  auto const& kernel = *warp.block->run.code.kernel;
  auto const& at = warp.block->at;
  auto const& block = warp.block->run.settings.block;
  auto const thread = warp.first_thread + lane;
  bool const is_beyond = warp.pc >= kernel.instructions.size();
  auto const where = is_beyond ? std::string("behind its last instruction")
                               : fmt::format("line {}: {}", kernel.instructions[warp.pc].line,
                                             kernel.instructions[warp.pc].text);
  return fmt::format("kernel {}, {}; thread ({}, {}, {}) of block ({}, {}, {})", kernel.name, where,
                     thread % block.x, thread / block.x % block.y, thread / block.x / block.y, at.x,
                     at.y, at.z);
}

void complain(Warp const& warp, unsigned lane, std::string_view what) {
  throw Complaint(fmt::format("{}; {}", what, place_of(warp, lane)));
}

void need_known(Warp const& warp, Slot slot, Lanes mask, std::string_view what) {
  auto const unknown = mask & ~warp.known[slot];
  if (unknown != 0) complain(warp, first_lane(unknown), fmt::format("{} was never written", what));
}

}  // namespace spillway::test::ptx
