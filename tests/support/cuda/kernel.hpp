// Lets the build's kernels run on the stand-in: they are launched on a stream and run when the
// device comes to them, with operands in device memory.
#pragma once

#include <span>

#include "kernels/kernel_table.hpp"
#include "tests/support/cuda/address_range.hpp"

namespace spillway::test::cuda {

// Binds the build's kernel of a kind. A launch is a piece in the stream of its Exec and runs on the
// thread for kernels. The serial kernel, for the host lane, is unchanged.
Kernel cuda_stand_in_kernel(OpKind kind);

// Makes an Exec for these kernels. `stream` is a stream of the stand-in, or null.
std::unique_ptr<Exec const> cuda_stand_in_exec(void* stream);

inline KernelTable cuda_stand_in_kernels() {
  return {cuda_stand_in_kernel, cuda_stand_in_exec};
}

// Says which bytes each operand of this thread's next launch has; an absent operand has an empty
// range. A launch checks its operands against these ranges, which may hold only a part of a view.
// Without them it expects whole views.
void expect_ranges(std::span<AddressRange const> ranges);
void expect_any_ranges();  // forgets these ranges

// Returns whether expect_ranges() allows this thread all of these bytes. Products of cublasLt are
// checked only in this way, because an item may launch several.
bool is_expected(AddressRange const& range);

}  // namespace spillway::test::cuda
