// Says what this folder's kernels need of the Exec on which they are launched. Sources that include
// this header see no Kokkos.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <string>

#include "kernels/exec.hpp"

namespace spillway::cuda {

// These functions return the stream in which an Exec of this folder's table puts work, and a handle
// of cublasLt for the stream's device, which lives at least as long as the Exec. They throw
// std::logic_error for another table's Exec.
cudaStream_t stream_of(Exec const& exec);
cublasLtHandle_t lt_handle_of(Exec const& exec);

// Throws Error(device), which names the op, if CUDA has noted that a launch of this thread failed.
// The table asks when an op has been launched. A kernel asks itself only before it launches what
// reads the results of its earlier launches.
void expect_launched(std::string const& op);

}  // namespace spillway::cuda
