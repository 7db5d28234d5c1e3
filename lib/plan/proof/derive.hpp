// These functions derive the writers of reads and the waits of items from the accesses of items.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// Fills the `writers` of every read with the items that last wrote its bytes through the same
// buffer, in any segment and step. `schedule` calls this function; a Program that is made by hand
// needs it once its items are final.
void link(Program& program);

// Sets the waits that the accesses of items require, and leaves out waits that other waits imply.
void derive_waits(Program& program);
// These functions are the two halves of `derive_waits`. What the second one leaves out changes no
// time, so the first is enough to simulate a Program.
void find_waits(Program& program);
void drop_implied_waits(Program& program);

}  // namespace spillway
