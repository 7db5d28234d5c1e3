// Proves that a Program computes what its items would if they ran one by one, whatever the timing.
#pragma once

#include <optional>
#include <string>

#include "plan/data/program.hpp"

namespace spillway {

struct Violation {
  ItemNumber earlier = -1, later = -1;  // the two items that are in each other's way; -1: none
  std::string why;                      // one line naming both, the buffers and the bytes
};
// Returns the first violation, or nothing if the proof holds. It shares lane clocks and byte cells
// with `derive_waits`; the oracle in tests/support shares nothing.
std::optional<Violation> verify(Program const& program);

}  // namespace spillway
