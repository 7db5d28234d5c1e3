// A Device of the stand-in that is held to what device/device.hpp promises.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace spillway::test::cuda {

// Returns a Device that does what `device` does, and complains when work is still under way that
// has ended when a function returns.
std::unique_ptr<Device> checked(std::unique_ptr<Device> device);

}  // namespace spillway::test::cuda
