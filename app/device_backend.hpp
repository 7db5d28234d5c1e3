// Declares which devices this program supports, besides the CPU.
#pragma once

#include "run/device_backend.hpp"

namespace spillway {

// Returns null if this program supports CPUs only. Each program is linked to one definition.
DeviceBackend const* device_backend();

}  // namespace spillway
