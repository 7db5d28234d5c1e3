// Defines what a kernel is. An op is bound once, before step 0, and launched many times.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "graph/graph.hpp"

namespace spillway {

class Exec;  // what kernels are launched on (kernels/exec.hpp)

// A Launch runs one op. `operands` has a pointer to the first element of every view, inputs before
// outputs, and then a pointer to the workspace (kernels/pointers.hpp). A pointer is null if the op
// lacks the operand or needs no workspace. A launch is asynchronous on devices and allocates
// nothing. It gives the same bits for the same operands, Arithmetic, rank and Exec.
using Launch = std::function<void(Exec const&, void* const* operands)>;

struct KernelContext {
  std::span<Tensor const> tensors;
  std::span<Chunk const> chunks;
  Arithmetic const& arithmetic;
  int rank = 0;  // the rank that runs the op; the op `tree_sum` sums its slice
};

// `bind` makes the Launch of an op. `serial` makes a Launch that computes the op in plain loops.
// Tests take this Launch as the reference, and the host lane runs it; for ops that the host lane
// runs, both Launches must give the same bits. A serial Launch runs on one thread unless its Exec
// has a HostPool, whose threads then share pieces that the shape alone determines.
struct Kernel {
  Launch (*bind)(KernelContext const&, Op const&);
  Launch (*serial)(KernelContext const&, Op const&);
  // Returns the bytes of workspace that an op needs. The pointer is null if no op of this kind
  // needs any.
  std::int64_t (*workspace_bytes)(KernelContext const&, Op const&) = nullptr;
};

}  // namespace spillway
