// What this program can compute on beside the cores of its machine.
#pragma once

#include "run/device_backend.hpp"

namespace spillway {

// Returns null if this program is for the cores alone. Each program is linked to one definition.
DeviceBackend const* device_backend();

}  // namespace spillway
