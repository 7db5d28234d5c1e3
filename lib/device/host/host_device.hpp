// The cores of this machine as a Device: its memory is main memory.
#pragma once

#include "device/device.hpp"

namespace spillway {

// Returns the one host device of the process, which has no state.
Device& host_device();

}  // namespace spillway
