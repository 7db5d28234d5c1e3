// Implements functions of the driver API for contexts. Libraries may be linked with them, or ask
// for their addresses by name.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "tests/support/cuda/call.hpp"

namespace cuda = spillway::test::cuda;
using cuda::State;

namespace {

template <class Body>
CUresult context_call(char const* name, Body const& body) {
  return static_cast<CUresult>(cuda::counted(
      name, cuda::Gives::nothing, [&](State& all, bool) -> cudaError_t { return body(all); }));
}

}  // namespace

// Libraries choose a device by its context. A context's handle is the device's number plus 1.
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return context_call("cuStreamGetCtx", [&](State& all) {
    auto const* const queue = all.queues.stream(cuda::number(stream));
    if (stream != nullptr && queue == nullptr)
      return cuda::refuse(cudaErrorInvalidValue, "a stream that does not exist");
    auto const device = stream == nullptr ? cuda::thread_state().device : queue->device;
    *context = cuda::handle_of<CUcontext>(device + 1);
    return cudaSuccess;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return context_call("cuCtxPushCurrent", [&](State& all) {
    auto const device = cuda::number(context) - 1;
    if (device < 0 || device >= all.settings.devices)
      return cuda::refuse(cudaErrorInvalidValue, "a context that is none");
    cuda::thread_state().device = device;
    return cudaSuccess;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return context_call("cuCtxGetDevice", [&](State&) {
    *device = cuda::thread_state().device;
    return cudaSuccess;
  });
}
