// Finds the backend of the devices that this program computes on, besides the CPU.
#pragma once

#include "config/config.hpp"
#include "run/device_module.hpp"

namespace spillway {

// Returns the backend that is installed with this program. The first call opens it. The source file
// that is linked decides where it comes from.
FoundBackend const& device_backend();

// Returns no backend if run.device is `cpu`, and does not open one then. Else: device_backend().
FoundBackend const& device_backend(Config const& config);

}  // namespace spillway
