// Names the errors that the stand-in returns.
#include <cuda_runtime_api.h>

namespace {

struct Words {
  char const *name, *text;
};

Words words(cudaError_t error) {
#define SPILLWAY_ERROR(name, text) \
  case name:                       \
    return {                       \
#name, text                  \
    }
  switch (error) {
    SPILLWAY_ERROR(cudaSuccess, "no error");
    SPILLWAY_ERROR(cudaErrorInvalidValue, "invalid argument");
    SPILLWAY_ERROR(cudaErrorMemoryAllocation, "out of memory");
    SPILLWAY_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy");
    SPILLWAY_ERROR(cudaErrorDevicesUnavailable,
                   "CUDA-capable device(s) is/are busy or unavailable");
    SPILLWAY_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected");
    SPILLWAY_ERROR(cudaErrorInvalidDevice, "invalid device ordinal");
    SPILLWAY_ERROR(cudaErrorNoKernelImageForDevice,
                   "no kernel image is available for execution on the device");
    SPILLWAY_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered");
    SPILLWAY_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle");
    SPILLWAY_ERROR(cudaErrorSymbolNotFound, "named symbol not found");
    SPILLWAY_ERROR(cudaErrorNotReady, "device not ready");
    SPILLWAY_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered");
    SPILLWAY_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated");
    SPILLWAY_ERROR(cudaErrorHostMemoryAlreadyRegistered,
                   "part or all of the requested memory range"
                   " is already mapped");
    SPILLWAY_ERROR(cudaErrorHostMemoryNotRegistered,
                   "pointer does not correspond to a registered"
                   " memory region");
    SPILLWAY_ERROR(cudaErrorLaunchFailure, "unspecified launch failure");
    SPILLWAY_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function");
    SPILLWAY_ERROR(cudaErrorInvalidSymbol, "invalid device symbol");
    SPILLWAY_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument");
    SPILLWAY_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured");
    SPILLWAY_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch");
    SPILLWAY_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed");
    SPILLWAY_ERROR(cudaErrorUnknown, "unknown error");
    default:
      return {"unrecognized error code", "unrecognized error code"};
  }
#undef SPILLWAY_ERROR
}

}  // namespace

char const* cudaGetErrorName(cudaError_t error) {
  return words(error).name;
}

char const* cudaGetErrorString(cudaError_t error) {
  return words(error).text;
}
