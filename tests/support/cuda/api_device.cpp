// Implements functions of CUDA's runtime API for devices, errors and versions.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "tests/support/cuda/call.hpp"
#include "tests/support/cuda/ptx_launch.hpp"

namespace cuda = spillway::test::cuda;
using cuda::call;
using cuda::State;

namespace {

char const* const kName = "stand-in for a GPU";
constexpr int kMultiprocessors = 16, kCopyEngines = 3;

// These are the limits of a block and of a multiprocessor of sm_90.
void set_limits(cudaDeviceProp& properties) {
  properties.warpSize = 32;
  properties.maxThreadsPerBlock = properties.maxThreadsDim[0] = properties.maxThreadsDim[1] = 1024;
  properties.maxThreadsDim[2] = 64;
  properties.maxGridSize[0] = 0x7fffffff;
  properties.maxGridSize[1] = properties.maxGridSize[2] = 0xffff;
  properties.sharedMemPerBlock = cuda::kSharedBytes;
  properties.sharedMemPerBlockOptin = cuda::kMostSharedBytes;
  properties.sharedMemPerMultiprocessor =
      cuda::kMostSharedBytes + spillway::test::ptx::kReservedSharedBytes;
  properties.reservedSharedMemPerBlock = spillway::test::ptx::kReservedSharedBytes;
  properties.regsPerBlock = properties.regsPerMultiprocessor = 65536;
  properties.maxThreadsPerMultiProcessor = 2048;
  properties.maxBlocksPerMultiProcessor = 32;
  properties.totalConstMem = 64 * 1024;
}

bool is_a_device(State const& all, int device) {
  return device >= 0 && device < all.settings.devices;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", [&](State& all) {
    *count = all.settings.devices;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", [&](State& all) {
    if (!is_a_device(all, device)) return cudaErrorInvalidDevice;
    auto const before = std::exchange(cuda::thread_state().device, device);
    if (before == device) cuda::note_needless(all, "cudaSetDevice");
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", [&](State&) {
    *device = cuda::thread_state().device;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  static std::map<cudaDeviceAttr, int> const known = {
      {cudaDevAttrMultiProcessorCount, kMultiprocessors},
      {cudaDevAttrAsyncEngineCount, kCopyEngines},
      {cudaDevAttrConcurrentKernels, 1},
      {cudaDevAttrCanMapHostMemory, 1},
      {cudaDevAttrHostRegisterSupported, 1},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
      {cudaDevAttrUnifiedAddressing, 1},
      {cudaDevAttrStreamPrioritiesSupported, 1},
      {cudaDevAttrIntegrated, 0},
      {cudaDevAttrHostNumaId, 0},
      {cudaDevAttrManagedMemory, 1},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda::kMostSharedBytes},
      {cudaDevAttrPageableMemoryAccess, 0},
      {cudaDevAttrConcurrentManagedAccess, 0},
      {cudaDevAttrComputeMode, cudaComputeModeDefault},
  };
  return call("cudaDeviceGetAttribute", [&](State& all) {
    if (!is_a_device(all, device)) return cudaErrorInvalidDevice;
    auto const architecture = all.settings.architecture(device);
    auto const found = known.find(attribute);
    if (attribute == cudaDevAttrComputeCapabilityMajor)
      *value = architecture / 10;
    else if (attribute == cudaDevAttrComputeCapabilityMinor)
      *value = architecture % 10;
    else if (found != known.end())
      *value = found->second;
    else
      return cuda::refuse(cudaErrorInvalidValue, "an attribute that the stand-in does not know");
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call("cudaGetDeviceProperties", [&](State& all) {
    if (!is_a_device(all, device)) return cudaErrorInvalidDevice;
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "%s", kName);
    properties->totalGlobalMem = static_cast<std::size_t>(all.memory.total());
    properties->uuid.bytes[0] = static_cast<char>(device + 1);
    properties->major = all.settings.architecture(device) / 10;
    properties->minor = all.settings.architecture(device) % 10;
    properties->multiProcessorCount = kMultiprocessors;
    properties->asyncEngineCount = kCopyEngines;
    properties->concurrentKernels = properties->canMapHostMemory = 1;
    properties->unifiedAddressing = 1;
    properties->managedMemory = 1;
    set_limits(*properties);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call("cudaDeviceGetPCIBusId", [&](State& all) {
    if (!is_a_device(all, device)) return cudaErrorInvalidDevice;
    int const needed = std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0",
                                     static_cast<unsigned>(device + 1));
    return needed < length ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call("cudaMemGetInfo", [&](State& all) {
    *free = static_cast<std::size_t>(all.memory.free(cuda::thread_state().device));
    *total = static_cast<std::size_t>(all.memory.total());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [](State& all) { return cuda::finish_all(all); });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call("cudaDriverGetVersion", [&](State&) {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call("cudaRuntimeGetVersion", [&](State&) {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

// Returns a sticky error at every call, any other error only once.
cudaError_t cudaGetLastError() {
  auto& own = cuda::thread_state().last_error;
  auto last = cudaSuccess;
  auto const result = call("cudaGetLastError", [&](State& all) {
    if (own == cudaSuccess || own == cudaErrorNotReady)
      cuda::note_needless(all, "cudaGetLastError");
    last = std::exchange(own, cudaSuccess);
    return cudaSuccess;
  });
  return result != cudaSuccess ? result : last;
}

cudaError_t cudaPeekAtLastError() {
  auto last = cudaSuccess;
  auto const result = call("cudaPeekAtLastError", [&](State&) {
    last = cuda::thread_state().last_error;
    return cudaSuccess;
  });
  return result != cudaSuccess ? result : last;
}
