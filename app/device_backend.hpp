// Declares which devices this program supports, besides the CPU.
#pragma once

#include "run/device_backend.hpp"

namespace spillway {

// Returns the backend of the devices that this program supports, or null if it supports CPUs only.
// The source file that is linked decides which devices those are.
DeviceBackend const* device_backend();

}  // namespace spillway
