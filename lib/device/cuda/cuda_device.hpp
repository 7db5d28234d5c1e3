// Opens CUDA devices. Sources that include this header need no header of CUDA.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device/device.hpp"

namespace spillway {

// Returns how many devices CUDA sees, or 0 if CUDA does not tell, for example without a driver.
int cuda_device_count() noexcept;

// Returns why the CUDA device with the number `ordinal` does not run kernels that are compiled for
// `architectures` (see has_code_for), or "" if it does or if CUDA does not tell. Takes nothing of
// the device, whereas opening it takes memory.
std::string why_no_code(int ordinal, std::string_view architectures);

// Opens the CUDA device with the number `ordinal` and makes the calling thread use it. Other
// threads use it when they call functions of its objects. Kernels are loaded when CUDA starts, not
// at their first launch, unless CUDA_MODULE_LOADING says otherwise. Throws Error(device).
std::unique_ptr<Device> open_cuda_device(int ordinal);

}  // namespace spillway
