// A CudaContext is what all objects of one CUDA device share.
#pragma once

#include <atomic>
#include <string>

#include "device/cuda/driver.hpp"

namespace spillway {

struct CudaContext {
  // Makes the device with number `ordinal` the device of the calling thread. Throws Error(device)
  // if it cannot be used.
  explicit CudaContext(int ordinal);

  int ordinal;
  std::string name;  // names the device in messages: "CUDA device 0 at 0000:3b:00.0"
  CudaDriver driver;
  // This becomes true when the first failure is reported. From then on, destructors report nothing,
  // because every call fails once a device has failed.
  mutable std::atomic<bool> failure_told = false;
};

}  // namespace spillway
