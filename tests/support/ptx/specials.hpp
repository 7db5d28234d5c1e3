// Gives the values of special registers, such as %tid.x.
#pragma once

#include <string_view>

#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {

// Returns the bytes that the register has for each lane, or 0 if there is no such register.
unsigned special_bytes(std::string_view name);

// Says when the value of a special register changes.
enum class Changes : std::uint8_t { never, by_block, by_turn };

// Sets those special registers of a warp that change at `when`. Clocks count the instructions that
// have run, and go on when another turn begins.
void set_specials(Warp const& warp, Changes when);

}  // namespace spillway::test::ptx
