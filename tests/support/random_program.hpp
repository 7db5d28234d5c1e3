// Draws small random Programs for tests of proofs. They have several lanes, segments and tiers and
// are legal by construction, so `verify` must accept them.
#pragma once

#include <random>

#include "plan/data/program.hpp"

namespace spillway::test {

inline constexpr std::int64_t kCellBytes = 64;  // accesses begin and end on multiples of this
using Random = std::mt19937;

// Returns a Program whose items, on any lanes, use any values that exist. Some values are spilled
// and reloaded.
Program random_program(Random& random);

// Makes a small training step of the forms that `schedule` uses. State on any tier is brought to
// its users, whole or in slices through slots, and taken back if the control words say so. Values
// are spilled, sometimes in part, and reloaded. Gradients are collected over segments, and some
// items go on into the next step.
Program random_step(Random& random);

// Returns a random number from 0 to n - 1, for n > 0.
inline int below(Random& random, int n) {
  return static_cast<int>(random() % static_cast<unsigned>(n));
}
// Sets the writers, the offsets and the waits of a Program.
void complete(Program& program);

}  // namespace spillway::test
