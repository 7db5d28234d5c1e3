// The host device is a Device that computes on the cores of this machine, with main memory.
#pragma once

#include "device/device.hpp"

namespace spillway {

// Returns the one host device of the process, which has no state.
Device& host_device();

}  // namespace spillway
