// The special registers, %tid.x and its like.
#pragma once

#include <string_view>

#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {

// The bytes of a lane; 0 if there is no such register.
unsigned special_bytes(std::string_view name);

// When the value of a special register changes.
enum class Changes : std::uint8_t { never, by_block, by_turn };

// Sets those registers of a warp that change then. Clocks show the number of instructions that
// have run, and go on when another turn begins.
void set_specials(Warp const& warp, Changes when);

}  // namespace spillway::test::ptx
