// Checks that a Device of the stand-in keeps what device/device.hpp promises.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace spillway::test::cuda {

// Returns a Device that passes every call on to `device`. It complains if a function returns while
// work may still run that must have ended by then.
std::unique_ptr<Device> checked(std::unique_ptr<Device> device);

}  // namespace spillway::test::cuda
