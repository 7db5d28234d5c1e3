// Lets the build's kernels run on the stand-in: they are launched on a stream and run when the
// device comes to them, with operands in device memory.
#pragma once

#include <span>

#include "kernels/kernel_table.hpp"
#include "tests/support/cuda/address_range.hpp"

namespace spillway::test::cuda {

// Returns the host's kernel for ops of this kind, changed so that a launch appends a piece to the
// stream of its Exec; the thread for kernels runs it later. The serial reference is unchanged.
Kernel cuda_stand_in_kernel(OpKind kind);

// Makes an Exec that launches the stand-in's kernels on `stream`, a stream of the stand-in or null.
std::unique_ptr<Exec const> cuda_stand_in_exec(void* stream);

inline KernelTable cuda_stand_in_kernels() {
  return {cuda_stand_in_kernel, cuda_stand_in_exec};
}

// Returns a table whose launches are those of `own`, which call CUDA or cublasLt themselves and
// may do so several times. All that a launch enqueues may touch the op's operands only. The
// process has one such table.
KernelTable cuda_checked_kernels(KernelTable const& own);

// Says which bytes each operand of this thread's next launch has; an absent operand has an empty
// range. A launch checks its operands against these ranges, which may hold only a part of a view.
// If no ranges were given, it expects whole views.
void expect_ranges(std::span<AddressRange const> ranges);
void expect_any_ranges();  // forgets the ranges of expect_ranges()

// Returns whether the ranges of this thread's last expect_ranges(), if there are any, hold all
// these bytes. Products of cublasLt are checked only in this way, because an item may launch
// several.
bool is_expected(AddressRange const& range);

}  // namespace spillway::test::cuda
