// Every function of this folder that calls CUDA makes a CudaCalls first.
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

// While a CudaCalls lives, CUDA calls of this thread use the context's device, and CUDA may
// allocate main memory even if `debug.locked_allocator` forbids that to the thread.
class CudaCalls {
 public:
  explicit CudaCalls(CudaContext const& context);

  // These throw Error(device) if `result` says that `call` failed; `doing` says what it was for:
  // "CUDA device 0 at 0000:3b:00.0: recording an event: cudaEventRecord: cudaErrorUnknown: ...".
  void require(cudaError_t result, char const* call, char const* doing) const;
  void require(CUresult result, char const* call, char const* doing) const;
  // Throws Error(device) if CUDA has noted a failure for this thread that no call has returned yet.
  void require_nothing_noted(char const* doing) const;

 private:
  CudaContext const& m_context;
  AllocatorPass m_pass;
};

// Returns "CALL: NAME: EXPLANATION". Also resets cudaGetLastError(), so that the failure is not
// reported again.
std::string cuda_failure(char const* call, cudaError_t result);

// Makes the next CudaCalls of this thread choose its device even if this thread has chosen it
// before, because other code may have chosen another device since then.
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
