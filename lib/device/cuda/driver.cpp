#include "device/cuda/driver.hpp"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include "base/error.hpp"
#include "device/cuda/calls.hpp"

namespace spillway {
namespace {

// The functions are looked up as CUDA 10.2 defines them, which is the first version that has them
// all.
constexpr unsigned kCudaVersion = 10020;

template <class Function>
void load(CudaCalls const& calls, Function& function, char const* symbol) {
  void* address = nullptr;
  auto found = cudaDriverEntryPointSymbolNotFound;
  calls.require(
      cudaGetDriverEntryPointByVersion(symbol, &address, kCudaVersion, cudaEnableDefault, &found),
      "cudaGetDriverEntryPointByVersion", symbol);
  if (found != cudaDriverEntryPointSuccess || address == nullptr) {
    throw Error(Status::device, fmt::format("the CUDA driver is too old: it has no {}", symbol));
  }
  function = reinterpret_cast<Function>(address);
}

}  // namespace

CudaDriver load_cuda_driver(CudaCalls const& calls) {
  CudaDriver driver;
  load(calls, driver.get_granularity, "cuMemGetAllocationGranularity");
  load(calls, driver.reserve_addresses, "cuMemAddressReserve");
  load(calls, driver.free_addresses, "cuMemAddressFree");
  load(calls, driver.create_memory, "cuMemCreate");
  load(calls, driver.release_memory, "cuMemRelease");
  load(calls, driver.map_memory, "cuMemMap");
  load(calls, driver.unmap_memory, "cuMemUnmap");
  load(calls, driver.set_access, "cuMemSetAccess");
  load(calls, driver.get_error_name, "cuGetErrorName");
  return driver;
}

}  // namespace spillway
