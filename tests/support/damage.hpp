// Ways to break a Program that was sound. Each returns false if it offers no place for the damage;
// then it is unchanged. Not every damage makes a Program wrong.
#pragma once

#include "support/random_program.hpp"

namespace spillway::test {

using Damage = bool (*)(Program&, Random&);

bool remove_wait(Program& program, Random& random);
bool weaken_wait(Program& program, Random& random);  // for the item before it on its lane
bool move_buffer(Program& program, Random& random);  // to where another one begins
bool shift_buffer(Program& program, Random& random);
bool shorten_stays(Program& program, Random& random);  // offsets as if nothing were asynchronous
bool move_item_forward(Program& program, Random& random);  // before one that it follows
bool change_lane(Program& program, Random& random);
bool change_range(Program& program, Random& random);  // of one access
bool drop_writer(Program& program, Random& random);   // of those that a read expects
bool forget_span(Program& program, Random& random);   // of a buffer that carries a value on
bool drop_version(Program& program, Random& random);  // of a buffer that has two

}  // namespace spillway::test
