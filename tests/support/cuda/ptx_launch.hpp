// Launches kernels that the interpreter of PTX runs.
#pragma once

#include <string>
#include <vector>

#include "tests/support/cuda/state.hpp"
#include "tests/support/ptx/launch.hpp"

namespace spillway::test::cuda {

struct KernelLaunch {
  ptx::Dim grid = {}, block = {};
  std::size_t dynamic_shared_bytes = 0;
};

// Appends the launch of a kernel to a stream. `arguments` has a pointer to each of the kernel's
// parameters, whose bytes are copied at once. While the thread launches an op, the kernel may touch
// the bytes of the op's operands, else all memory of the device and all that is registered; in
// both cases the variables of its fat binary and what cudaMalloc and its like have given.
// Refuses what CUDA would not launch.
cudaError_t launch_ptx(State& all, int stream, DeviceFunction& function, KernelLaunch const& launch,
                       void* const* arguments, bool stuck);

// Returns the code of a fat binary on the device that this thread has chosen. Complains and returns
// null if it cannot be read; `what` says who asks.
LoadedCode* loaded_code(FatBinary& binary, std::string const& what);
// Decodes the kernel for the device that this thread has chosen. Complains and returns null if the
// interpreter cannot run it.
ptx::Code const* code_of(DeviceFunction& function);

// Returns whether the kernel was compiled for what this thread's device can run.
bool has_code(DeviceFunction const& function);

// The most dynamic shared memory that a launch may ask for on this thread's device.
std::size_t most_dynamic_shared_bytes(DeviceFunction const& function, ptx::Code const& code);

// Limits of shared memory of a block, static and dynamic together, as on sm_90.
inline constexpr std::size_t kSharedBytes = 48 * 1024, kMostSharedBytes = 227 * 1024;
inline std::size_t static_shared_bytes(ptx::Code const& code) {
  return code.shared_bytes - ptx::kReservedSharedBytes;
}

}  // namespace spillway::test::cuda
