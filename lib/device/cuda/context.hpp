// What all objects of one CUDA device share.
#pragma once

#include <atomic>
#include <string>

#include "device/cuda/driver.hpp"

namespace spillway {

struct CudaContext {
  // Makes `ordinal` the device of the calling thread. Throws Error(device) if it cannot be used.
  explicit CudaContext(int ordinal);

  int ordinal;
  std::string name;  // for messages: "CUDA device 0 at 0000:3b:00.0"
  CudaDriver driver;
  // Set by the first failure that somebody was told of. Destructors are silent from then on: once a
  // device has failed, every call fails.
  mutable std::atomic<bool> failure_told = false;
};

}  // namespace spillway
