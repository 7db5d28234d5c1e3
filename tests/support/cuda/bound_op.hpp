// An op that is bound to a kernel, and where its operands are in one launch.
#pragma once

#include <string>
#include <vector>

#include "kernels/kernel.hpp"
#include "tests/support/cuda/launched_op.hpp"
#include "tests/support/cuda/operands.hpp"

namespace spillway::test::cuda {

// Holds what all launches of one bound op share.
struct BoundOp {
  std::string name;
  std::vector<Operand> operands;
  std::size_t views;
  Launch launch;
};
BoundOp bound_op(KernelContext const& context, Op const& op, Launch launch);

struct PlacedOp {
  LaunchedOp op;
  std::vector<void*> touchable;  // the operands' addresses for the stand-in itself
};

// Takes the ranges of this thread's last expect_ranges(). Throws std::runtime_error if an operand
// is not where they say, or where the device cannot reach it.
PlacedOp place(State const& all, BoundOp const& bound, void* const* operands);

}  // namespace spillway::test::cuda
