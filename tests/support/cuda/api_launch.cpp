// Implements launches of kernels, and what can be asked and set about kernels.
#include <cuda_runtime_api.h>

#include <utility>

#include "tests/support/cuda/call.hpp"
#include "tests/support/cuda/default_stream.hpp"
#include "tests/support/cuda/launched_op.hpp"
#include "tests/support/cuda/ptx_launch.hpp"

namespace cuda = spillway::test::cuda;
using cuda::call;
using cuda::call_that_enqueues;
using cuda::DeviceFunction;
using cuda::number;
using cuda::State;

namespace {

// Keeps what <<<...>>> says until the kernel's stub takes it.
struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};
thread_local std::vector<Configuration> t_configurations;

spillway::test::ptx::Dim dim(dim3 const& d) {
  return {d.x, d.y, d.z};
}

cudaError_t no_such_kernel() {
  return cuda::refuse(cudaErrorInvalidDeviceFunction, "a kernel that was never registered");
}

cudaError_t launch(State& all, DeviceFunction& function, Configuration const& how,
                   void* const* arguments, bool stuck) {
  cuda::KernelLaunch const kernel{dim(how.grid), dim(how.block), how.shared_bytes};
  if (how.stream == nullptr) {
    if (cuda::launched_op() != nullptr)
      cuda::complain("a kernel of an op is launched on the default stream");
    auto const id = cuda::default_stream(all);
    auto const result = launch_ptx(all, id, function, kernel, arguments, stuck);
    cuda::let_blocking_streams_wait(all, id);
    return result;
  }
  auto const* const queue = all.queues.stream(number(how.stream));
  if (queue == nullptr) return cuda::no_such_stream();
  if (queue->device != cuda::thread_state().device)
    return cuda::refuse(cudaErrorInvalidResourceHandle,
                        "kernel " + function.name + " is launched on another device");
  return launch_ptx(all, number(how.stream), function, kernel, arguments, stuck);
}

template <class Find>
cudaError_t counted_launch(Find const& find, Configuration const& how, void* const* arguments) {
  auto* const op = cuda::launched_op();
  auto const result = call_that_enqueues("cudaLaunchKernel", [&](State& all, bool stuck) {
    auto* const function = find(all);
    if (op != nullptr && op->failed) return cudaSuccess;
    return function == nullptr ? no_such_kernel() : launch(all, *function, how, arguments, stuck);
  });
  if (op != nullptr && result != cudaSuccess) op->failed = true;
  return result;
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     CUstream_st* stream) {
  spillway::AllocatorPass const pass;
  t_configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream) {
  if (t_configurations.empty()) return cudaErrorMissingConfiguration;
  auto const how = t_configurations.back();
  t_configurations.pop_back();
  *grid = how.grid;
  *block = how.block;
  *shared_bytes = how.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = how.stream;
  return cudaSuccess;
}

// CUDA 13's stubs ask for a kernel once and launch what they were given.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, void const* host) {
  return call("__cudaGetKernel", [&](State& all) {
    auto* const function = all.code.function(host);
    if (function == nullptr) return no_such_kernel();
    *kernel = reinterpret_cast<cudaKernel_t>(function);
    return cudaSuccess;
  });
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  auto const find = [&](State& all) {
    auto* const function = reinterpret_cast<DeviceFunction*>(kernel);
    return all.code.has(function) ? function : nullptr;
  };
  return counted_launch(find, {grid, block, shared_bytes, stream}, arguments);
}

}  // extern "C"

cudaError_t cudaLaunchKernel(void const* host, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  auto const find = [&](State& all) { return all.code.function(host); };
  return counted_launch(find, {grid, block, shared_bytes, stream}, arguments);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void const* host) {
  return call("cudaFuncGetAttributes", [&](State& all) {
    auto* const function = all.code.function(host);
    if (function == nullptr) return no_such_kernel();
    if (!cuda::has_code(*function)) return cudaErrorNoKernelImageForDevice;
    auto const* const code = cuda::code_of(*function);
    if (code == nullptr) return cudaErrorInvalidPtx;
    *attributes = {};
    attributes->sharedSizeBytes = cuda::static_shared_bytes(*code);
    attributes->localSizeBytes = code->local_bytes;
    attributes->maxThreadsPerBlock = static_cast<int>(code->kernel->most_threads);
    attributes->numRegs = 32;  // is made up, since only ptxas knows
    attributes->ptxVersion = attributes->binaryVersion =
        all.settings.architecture(cuda::thread_state().device);
    attributes->maxDynamicSharedSizeBytes =
        static_cast<int>(cuda::most_dynamic_shared_bytes(*function, *code));
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(void const* host, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", [&](State& all) {
    auto* const function = all.code.function(host);
    if (function == nullptr) return no_such_kernel();
    auto const* const code = cuda::code_of(*function);
    if (code == nullptr) return cudaErrorInvalidPtx;
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
    auto const bytes = static_cast<std::size_t>(value);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        bytes + cuda::static_shared_bytes(*code) > cuda::kMostSharedBytes)
      return cuda::refuse(cudaErrorInvalidValue,
                          fmt::format("kernel {}: attribute {} cannot be {}", function->name,
                                      static_cast<int>(attribute), value));
    function->most_dynamic_shared_bytes[cuda::thread_state().device] = bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetCacheConfig(void const* host, cudaFuncCache) {
  return call("cudaFuncSetCacheConfig", [&](State& all) {
    return all.code.function(host) == nullptr ? no_such_kernel() : cudaSuccess;
  });
}
