// The groups of a warp's lanes, each at an instruction.
#pragma once

#include <cstdint>

#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {

// How lanes that are at several instructions are chosen for a turn.
enum class Choice : std::uint8_t { lowest, any };

// Groups at the same instruction become one, which then asks again whether it must wait.
void merge(std::vector<Group>& groups);

// The number of the group that goes on: the one at the lowest instruction, or any, which `draw`
// picks. Complains if all of them wait.
std::size_t pick(Warp& warp, Choice choice, std::uint64_t draw);

}  // namespace spillway::test::ptx
