// Draws small random Programs to test verify(), which must accept them: they are correct by
// construction. They have several lanes, segments and tiers.
#pragma once

#include <random>

#include "plan/data/program.hpp"

namespace spillway::test {

inline constexpr std::int64_t kCellBytes = 64;  // accesses begin and end on multiples of this
using Random = std::mt19937;

// Returns a Program whose items, on random lanes, read and write random buffers that have a value
// by then. Some values are spilled and reloaded.
Program random_program(Random& random);

// Makes a small training step with all that steps of schedule() may have. State on any tier is
// brought to the items that use it, whole or in slices through slots, and taken back if the control
// words say so. Activations are spilled, sometimes in part, and reloaded. Gradients are summed over
// segments, and some items go on into the next step.
Program random_step(Random& random);

// Returns a random number from 0 to n - 1, for n > 0.
inline int below(Random& random, int n) {
  return static_cast<int>(random() % static_cast<unsigned>(n));
}
// Sets the writers, the offsets and the waits of a Program.
void complete(Program& program);

}  // namespace spillway::test
