// A CudaContext has what all objects of one CUDA device share, such as functions of the driver.
#pragma once

#include <atomic>
#include <string>

#include "device/cuda/driver.hpp"

namespace spillway {

// Returns a text such as "CUDA 13.0" for a version as CUDA tells it, such as 13000.
std::string cuda_version(int number);

struct CudaContext {
  // Makes the calling thread use the CUDA device with the number `ordinal`. Throws Error(device) if
  // the device cannot be used.
  explicit CudaContext(int ordinal);

  int ordinal;
  std::string name;  // names the device in messages: "CUDA device 0 at 0000:3b:00.0"
  CudaDriver driver;
  // failure_told becomes true when the first failure is reported. From then on, destructors report
  // nothing, because every call fails once a device has failed.
  mutable std::atomic<bool> failure_told = false;
};

}  // namespace spillway
