#pragma once

#include <cstdint>

#include "tests/support/ptx/groups.hpp"

namespace spillway::test::ptx {

// Runs a warp for so many instructions, or until it has ended or waits at a barrier. Its lanes meet
// because those at the lowest instruction go first; now and then a turn begins with others, so that
// none starves. `draw` picks these.
void run_turn(Warp& warp, std::uint64_t instructions, Choice choice, std::uint64_t draw);

}  // namespace spillway::test::ptx
