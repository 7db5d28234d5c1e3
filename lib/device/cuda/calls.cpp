#include "device/cuda/calls.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "device/cuda/noted.hpp"

namespace spillway {
namespace {

// t_ordinal is the number of the device that this thread has chosen last, or -1 if the next
// CudaCalls must choose one. CUDA itself keeps a choice for each thread.
thread_local int t_ordinal = -1;

[[noreturn]] void fail(CudaContext const& context, char const* doing, std::string const& failure) {
  context.failure_told = true;
  throw Error(Status::device, fmt::format("{}: {}: {}", context.name, doing, failure));
}

}  // namespace

CudaCalls::CudaCalls(CudaContext const& context) : m_context(context) {
  if (t_ordinal == context.ordinal) return;
  require(cudaSetDevice(context.ordinal), "cudaSetDevice", "choosing it");
  t_ordinal = context.ordinal;
}

void CudaCalls::require(cudaError_t result, char const* call, char const* doing) const {
  if (result != cudaSuccess) fail(m_context, doing, cuda_failure(call, result));
}

void CudaCalls::require(CUresult result, char const* call, char const* doing) const {
  if (result == CUDA_SUCCESS) return;
  char const* name = nullptr;
  if (m_context.driver.get_error_name(result, &name) != CUDA_SUCCESS) name = "an unknown error";
  fail(m_context, doing, fmt::format("{}: {}", call, name));
}

void CudaCalls::require_nothing_noted(char const* doing) const {
  require(noted_failure(), "cudaGetLastError", doing);
}

std::string cuda_failure(char const* call, cudaError_t result) {
  auto text = fmt::format("{}: {}: {}", call, cudaGetErrorName(result), cudaGetErrorString(result));
  cudaGetLastError();
  return text;
}

void choose_cuda_device_anew() {
  t_ordinal = -1;
}

}  // namespace spillway
