// The proof that a Program computes what its items run one by one would, whatever the timing.
#pragma once

#include <optional>
#include <string>

#include "plan/data/program.hpp"

namespace spillway {

struct Violation {
  ItemNumber earlier = -1, later = -1;  // the offending pair
  std::string why;                      // one line naming both, the buffers and the bytes
};
// Shares lane clocks and byte cells with `derive_waits`; the oracle in tests/support shares
// nothing.
std::optional<Violation> verify(Program const& program);

}  // namespace spillway
