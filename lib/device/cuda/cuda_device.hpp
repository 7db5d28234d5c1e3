// A CUDA device as a Device. Its users do not see CUDA.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace spillway {

// Returns how many devices CUDA sees; 0 without a driver.
int cuda_device_count() noexcept;

// Makes it the device of the calling thread; other threads choose it by themselves when they first
// use what it has made. Kernels are loaded when CUDA starts, not at their first launch, unless
// CUDA_MODULE_LOADING says otherwise. Throws Error(device).
std::unique_ptr<Device> open_cuda_device(int ordinal);

}  // namespace spillway
