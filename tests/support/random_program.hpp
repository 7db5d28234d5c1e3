// Small Programs for tests of proofs: several lanes, segments, tiers and steps, legal by
// construction, then linked, laid out and given waits: `verify` must accept them.
#pragma once

#include <random>

#include "plan/data/program.hpp"

namespace spillway::test {

inline constexpr std::int64_t kCellBytes = 64;  // accesses begin and end on multiples of this
using Random = std::mt19937;

// Items of any lane that use whatever has a value; some of it is spilled and reloaded.
Program random_program(Random& random);

// A training step in small, in the forms that `schedule` uses: state on any tier that is brought
// to its users, whole or in slices through slots that take turns, and taken back if the control
// words say so; values of which a part leaves and comes back into its hole; gradients collected
// over segments; uses that last into the next step.
Program random_step(Random& random);

// Random numbers below n, for n > 0.
inline int below(Random& random, int n) {
  return static_cast<int>(random() % static_cast<unsigned>(n));
}
// Links, lays out and derives waits.
void complete(Program& program);

}  // namespace spillway::test
