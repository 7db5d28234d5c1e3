// Proves that a Program, whatever its timing, computes what its items would if they ran one by one.
#pragma once

#include <optional>
#include <string>

#include "plan/data/program.hpp"

namespace spillway {

struct Violation {
  ItemNumber earlier = -1, later = -1;  // the two items in conflict; -1 if there is none
  std::string why;                      // one line that names the items, the buffer and the bytes
};
// Returns the first violation, or nothing if the proof holds. This code uses the same lane clocks
// and byte cells as `derive_waits`; the oracle in tests/support shares no code with either.
std::optional<Violation> verify(Program const& program);
// Throws std::logic_error for a Violation, which would be a bug of this library.
void prove(Program const& program);

// Does only the first part of `verify`: checks numbers, ranges and counts, which must be right
// before a Program can be walked. The Violation names no earlier item.
std::optional<Violation> check_shape(Program const& program);

}  // namespace spillway
