// Gives the KernelTable whose kernels run on a CUDA device, and the runtime that they need.
#pragma once

#include "kernels/kernel_table.hpp"

namespace spillway::cuda {

// Returns a kernel without a serial form: the host's table has the references. A Launch throws
// Error(device), which names the op, if CUDA refuses it.
Kernel kernel(OpKind kind);

// Begins the runtime of the kernels, Kokkos, on the device that the calling thread has chosen. A
// process may do that once. Returns the table of kernel(), whose Execs are on a cudaStream_t of
// that device or, for null, on a stream of Kokkos. Launches on them allocate nothing on the device.
// Throws Error(device).
KernelTable begin_kernels();

// Ends the runtime, after all Execs have been destroyed. Does nothing if it did not begin.
void end_kernels() noexcept;

}  // namespace spillway::cuda
