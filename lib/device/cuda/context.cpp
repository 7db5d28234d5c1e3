#include "device/cuda/context.hpp"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <array>

#include "base/error.hpp"
#include "device/cuda/calls.hpp"

namespace spillway {
namespace {

// Returns the versions of the driver and the runtime for a message: when a device cannot be opened,
// the driver is often missing or older than the runtime.
std::string versions() {
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (cudaRuntimeGetVersion(&runtime) != cudaSuccess) runtime = 0;
  return fmt::format("(driver: {}, program: {})", driver > 0 ? cuda_version(driver) : "none",
                     cuda_version(runtime));
}

}  // namespace

std::string cuda_version(int number) {
  return fmt::format("CUDA {}.{}", number / 1000, number % 1000 / 10);
}

CudaContext::CudaContext(int number)
    : ordinal(number), name(fmt::format("CUDA device {}", number)) {
  choose_cuda_device_anew();
  try {
    CudaCalls const calls(*this);
  } catch (Error const& error) {
    throw Error(Status::device, fmt::format("{} {}", error.what(), versions()));
  }
  CudaCalls const calls(*this);
  std::array<char, 32> bus = {};
  calls.require(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), ordinal),
                "cudaDeviceGetPCIBusId", "asking for its place");
  name += fmt::format(" at {}", bus.data());
  driver = load_cuda_driver(calls);
}

}  // namespace spillway
