// The way into CUDA: every function of this folder that calls it makes a CudaCalls first.
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

// While it lives, calls of this thread mean the context's device, and CUDA may allocate main
// memory.
class CudaCalls {
 public:
  explicit CudaCalls(CudaContext const& context);

  // These throw Error(device) if `result` is a failure of `call`, which was made for `doing`:
  // "CUDA device 0 at 0000:3b:00.0: recording an event: cudaEventRecord: cudaErrorUnknown: ...".
  void require(cudaError_t result, char const* call, char const* doing) const;
  void require(CUresult result, char const* call, char const* doing) const;
  // The same of a failure that CUDA has noted for this thread and told nobody.
  void require_nothing_noted(char const* doing) const;

 private:
  CudaContext const& m_context;
  AllocatorPass m_pass;
};

// Returns "CALL: NAME: EXPLANATION" and takes the failure from what cudaGetLastError() returns
// next: nobody is told of it twice.
std::string cuda_failure(char const* call, cudaError_t result);

// The next CudaCalls of this thread chooses its device even if this thread had chosen it before:
// others may have chosen another since.
void choose_cuda_device_anew();

// For destructors: runs `end` and logs what it throws, if nobody was told of a failure before.
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
