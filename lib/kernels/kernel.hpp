// How the engine meets kernels: an op is bound once, before step 0, and launched many times.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "graph/graph.hpp"

namespace spillway {

class Exec;  // an execution-space instance (kernels/exec.hpp); launches are in order on it

// Runs one op. `operands`: pointers to the first element of every view, in the order inputs,
// outputs, workspace. Asynchronous on devices; allocates nothing; the same bits for the same
// operands, Arithmetic, rank and Exec.
using Launch = std::function<void(Exec const&, void* const* operands)>;

struct KernelContext {
  std::span<Tensor const> tensors;
  std::span<Chunk const> chunks;
  Arithmetic const& arithmetic;
  int rank = 0;  // that runs the op: whose slice of a gradient is summed
};

// `serial` is the same computation as plain loops: the reference of the tests, and what the host
// lane runs (it must then give the bits that `bind` gives). It is on one thread, but where its Exec
// has a HostPool, kernels of the host lane are shared by that in pieces that the shape alone cuts.
struct Kernel {
  Launch (*bind)(KernelContext const&, Op const&);
  Launch (*serial)(KernelContext const&, Op const&);
  std::int64_t (*workspace_bytes)(KernelContext const&, Op const&) = nullptr;  // null: none
};

#define SPILLWAY_OP(name, rule) Kernel kernel_##name();
#include "graph/op_kinds.def"
#undef SPILLWAY_OP

Kernel kernel(OpKind kind);
std::int64_t workspace_bytes(KernelContext const& context, Op const& op);

}  // namespace spillway
