// While a thread launches an op, all work that it enqueues is the op's: it may touch the bytes of
// the op's operands and no others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/cuda/state.hpp"

namespace spillway::test::cuda {

struct LaunchedOp {
  // A range without gaps, which an operand has in memory.
  struct Part {
    std::string_view operand;
    AddressRange range;
    bool writes = false;
  };
  std::string name;
  std::vector<Part> parts = {};
  std::vector<MemoryAccess> accesses = {};  // of whole operands
  std::vector<AddressRange> fresh = {};     // what the op writes and does not read
  std::vector<AddressRange> gaps = {};      // has those of Operand::gaps
  bool stuck = false;                       // whether its first piece never ends
  // Whether the launch of one of its kernels has failed. Later ones do nothing then, since they
  // would read what nobody has written.
  bool failed = false;
};

LaunchedOp* launched_op();  // of this thread; null if it launches none

// From now until its end, this thread launches `op`, which must live as long.
class Launching {
 public:
  explicit Launching(LaunchedOp& op);
  Launching(Launching const&) = delete;
  Launching& operator=(Launching const&) = delete;
  ~Launching();
};

// Makes a piece of work the op's. Complains if it touches bytes that are neither the op's nor from
// cudaMalloc or its like. The first piece that touches operands makes what is fresh invalid. A
// piece that touches none, such as a copy to a variable of a kernel, is aside: it may be in another
// stream.
void add_to(LaunchedOp& op, State const& all, Piece& piece);

// Cuts parts where they overlap, so that none does; what one of them may do, the piece may do.
std::vector<LaunchedOp::Part> without_overlap(std::vector<LaunchedOp::Part> parts);

}  // namespace spillway::test::cuda
