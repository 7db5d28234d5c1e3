// A proof shows that a Program computes, whatever its timing, what its items compute one by one.
#pragma once

#include <optional>
#include <string>

#include "plan/data/program.hpp"

namespace spillway {

struct Violation {
  ItemNumber earlier = -1, later = -1;  // the two items in conflict; -1 if there is no such item
  std::string why;                      // one line that names the items, the buffer and the bytes
};
// Returns the first violation, or nothing if the proof holds. This code uses the same lane clocks
// and byte cells as `derive_waits`; the oracle in tests/support shares only `unroll` with them.
std::optional<Violation> verify(Program const& program);
// Throws std::logic_error if `verify` finds a Violation, which would be a bug of this library.
void prove(Program const& program);

// Checks numbers, ranges and counts, which must be right before `verify` can walk a Program. The
// Violation that is returned names no earlier item.
std::optional<Violation> check_shape(Program const& program);

}  // namespace spillway
