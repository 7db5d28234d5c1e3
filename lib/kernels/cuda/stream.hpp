// What the kernels of this folder launch on. Sources that include this header see no Kokkos.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/exec.hpp"

namespace spillway::cuda {

// Returns the stream of an Exec of this table. Throws std::logic_error for another table's Exec.
cudaStream_t stream_of(Exec const& exec);

// Throws Error(device), which names the kernel, if CUDA has refused a launch of this thread.
void expect_launched(char const* kernel);

}  // namespace spillway::cuda
