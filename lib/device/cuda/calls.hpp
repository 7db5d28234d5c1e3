// A function of this folder that makes CUDA calls for a device constructs a CudaCalls first.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <concepts>
#include <exception>
#include <string>

#include "base/allocator_pass.hpp"
#include "base/log.hpp"
#include "device/cuda/context.hpp"

namespace spillway {

// While a CudaCalls exists, CUDA calls of its thread use the context's device, and CUDA may
// allocate main memory even if `debug.locked_allocator` forbids that to the thread.
class CudaCalls {
 public:
  explicit CudaCalls(CudaContext const& context);

  // require() throws Error(device) if `result` says that the function `call` failed. `doing` says
  // in the message what it was called for: "CUDA device 0 at 0000:3b:00.0: recording an event:
  // cudaEventRecord: cudaErrorUnknown: ...".
  void require(cudaError_t result, char const* call, char const* doing) const;
  void require(CUresult result, char const* call, char const* doing) const;
  // Throws Error(device) if CUDA has noted a failure of the calling thread that no call has
  // returned.
  void require_nothing_noted(char const* doing) const;

 private:
  CudaContext const& m_context;
  AllocatorPass m_pass;
};

// Returns a text "CALL: NAME: EXPLANATION" for a message. Resets cudaGetLastError(), so that the
// failure is not reported a second time.
std::string cuda_failure(char const* call, cudaError_t result);

// Makes the next CudaCalls of the calling thread choose its device even if the thread has chosen
// the device before, because other code may have chosen another one since then.
void choose_cuda_device_anew();

// Runs `end` for a destructor, which must not throw. What `end` throws is logged, unless a failure
// of the device was reported before.
template <std::invocable<CudaCalls const&> End>
void end_cuda(CudaContext const& context, End const& end) noexcept {
  bool const told = context.failure_told;
  try {
    CudaCalls const calls(context);
    end(calls);
  } catch (std::exception const& error) {
    if (!told) log_warning("{}", error.what());
  }
}

}  // namespace spillway
