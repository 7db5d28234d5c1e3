// Defines how the engine uses kernels: an op is bound once, before step 0, and launched many times.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "graph/graph.hpp"

namespace spillway {

class Exec;  // keeps launches in order (kernels/exec.hpp)

// Runs one op. `operands` points to the first element of every view, inputs before outputs, and
// then to the workspace; what there is none of is null (kernels/pointers.hpp). A launch is
// asynchronous on devices and allocates nothing. It gives the same bits for the same operands,
// Arithmetic, rank and Exec.
using Launch = std::function<void(Exec const&, void* const* operands)>;

struct KernelContext {
  std::span<Tensor const> tensors;
  std::span<Chunk const> chunks;
  Arithmetic const& arithmetic;
  int rank = 0;  // the rank that runs the op; its slice is summed
};

// `serial` does the same computation in plain loops. Tests take it as reference, and the host lane
// runs it; there it must give the bits that `bind` gives. It runs on one thread unless its Exec has
// a HostPool, whose threads then share pieces that the shape alone determines.
struct Kernel {
  Launch (*bind)(KernelContext const&, Op const&);
  Launch (*serial)(KernelContext const&, Op const&);
  std::int64_t (*workspace_bytes)(KernelContext const&, Op const&) = nullptr;  // null: none
};

}  // namespace spillway
