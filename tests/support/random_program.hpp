// Small Programs for tests of proofs: several lanes, segments, tiers and steps, legal by
// construction once linked, laid out and given waits; and ways to damage them.
#pragma once

#include <random>

#include "plan/program.hpp"

namespace spillway::test {

inline constexpr std::int64_t kCellBytes = 64;  // accesses begin and end on multiples of this
using Random = std::mt19937;

// Linked, laid out, with waits: `verify` must accept it.
Program random_program(Random& random);

// Each returns false if the Program offers no place for it; then it is unchanged.
bool remove_wait(Program& program, Random& random);
bool move_buffer(Program& program, Random& random);        // to where another one begins
bool move_item_forward(Program& program, Random& random);  // before one that it follows
bool change_lane(Program& program, Random& random);

}  // namespace spillway::test
