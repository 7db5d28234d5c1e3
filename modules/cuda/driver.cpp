// Defines the functions of CUDA's driver that Kokkos calls, so that the module needs no
// libcuda.so.1 to be opened. Each asks the runtime for the driver's function when it is called.
#include <cuda.h>
#include <cuda_runtime_api.h>

namespace {

template <class Function>
Function driver_function(char const* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  auto const result =
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
  return result == cudaSuccess ? reinterpret_cast<Function>(function) : nullptr;
}

}  // namespace

extern "C" {

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  static auto const call = driver_function<decltype(&cuStreamGetCtx)>("cuStreamGetCtx", 9020);
  return call == nullptr ? CUDA_ERROR_NOT_FOUND : call(stream, context);
}

CUresult cuCtxPushCurrent(CUcontext context) {
  static auto const call = driver_function<decltype(&cuCtxPushCurrent)>("cuCtxPushCurrent", 4000);
  return call == nullptr ? CUDA_ERROR_NOT_FOUND : call(context);
}

CUresult cuCtxGetDevice(CUdevice* device) {
  static auto const call = driver_function<decltype(&cuCtxGetDevice)>("cuCtxGetDevice", 2000);
  return call == nullptr ? CUDA_ERROR_NOT_FOUND : call(device);
}

}  // extern "C"
