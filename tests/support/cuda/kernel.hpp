// The build's kernels as kernels of the device: launched on a stream, run when the device comes to
// them, with operands in its memory.
#pragma once

#include <span>

#include "kernels/kernel_table.hpp"
#include "tests/support/cuda/range.hpp"

namespace spillway::test::cuda {

// Binds the build's kernel of a kind. A launch takes its place in the stream that its Exec names
// and runs on the device's thread; of the host's own serial kernel nothing is changed.
Kernel cuda_stand_in_kernel(OpKind kind);

// Makes what these are launched on. `stream` is one of the stand-in's, or null.
std::unique_ptr<Exec const> cuda_stand_in_exec(void* stream);

inline KernelTable cuda_stand_in_kernels() {
  return {cuda_stand_in_kernel, cuda_stand_in_exec};
}

// Gives the bytes that the operands of this thread's next launch have, one range an operand and an
// empty one for an absent operand. Without them a launch takes each operand for a view that is
// there as a whole; with them also for one of which only a part is held.
void expect_ranges(std::span<Range const> ranges);
void expect_any_ranges();  // ends that

// Says whether expect_ranges() allows all of these bytes to this thread. Products of a library are
// told nothing else of an item's operands, and an item may begin several.
bool is_expected(Range const& range);

}  // namespace spillway::test::cuda
