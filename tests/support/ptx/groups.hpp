// Divides the lanes of a warp into groups, each of which is at one instruction.
#pragma once

#include <cstdint>

#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {

// Says which group goes on: the one at the lowest instruction, or any.
enum class Choice : std::uint8_t { lowest, any };

// Makes one group of those at the same instruction, which then asks again whether it must wait.
void merge(std::vector<Group>& groups);

// Returns the number of the group that goes on. `draw` picks it if the choice is any. Complains if
// all groups wait.
std::size_t pick(Warp& warp, Choice choice, std::uint64_t draw);

}  // namespace spillway::test::ptx
