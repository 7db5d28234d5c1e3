// Opens CUDA devices. Users of this header do not see CUDA.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace spillway {

// Returns how many devices CUDA sees, or 0 if there is no driver.
int cuda_device_count() noexcept;

// Opens a device and makes it the device of the calling thread. Other threads choose it by
// themselves when they first use an object that it has made. Kernels are loaded when CUDA starts,
// not at their first launch, unless CUDA_MODULE_LOADING says otherwise. Throws Error(device).
std::unique_ptr<Device> open_cuda_device(int ordinal);

}  // namespace spillway
