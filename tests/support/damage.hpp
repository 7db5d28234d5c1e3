// These functions damage a sound Program. Each returns false, and leaves the Program unchanged, if
// it finds no place for the damage. A damaged Program is not always wrong.
#pragma once

#include "tests/support/random_program.hpp"

namespace spillway::test {

using Damage = bool (*)(Program&, Random&);

bool remove_wait(Program& program, Random& random);
// Changes one wait of an item: it then waits for the item that comes before the awaited one on the
// same lane.
bool weaken_wait(Program& program, Random& random);
// Moves a buffer to the offset of another one.
bool move_buffer(Program& program, Random& random);
bool shift_buffer(Program& program, Random& random);
// Gives the buffers new offsets, as if every item had ended before the next one begins.
bool shorten_stays(Program& program, Random& random);
// Moves an item to an earlier place in its segment.
bool move_item_forward(Program& program, Random& random);
bool change_lane(Program& program, Random& random);
// Moves the first or the last byte of one access by 64 bytes.
bool change_range(Program& program, Random& random);
// Removes one of the writers whose value a read expects.
bool drop_writer(Program& program, Random& random);
// Marks a buffer that may carry a value into another segment as one that does not.
bool forget_span(Program& program, Random& random);
// Leaves a buffer that has two versions only one of them.
bool drop_version(Program& program, Random& random);

}  // namespace spillway::test
