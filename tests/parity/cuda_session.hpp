// What a Device of CUDA's backend does outside of runs.
#pragma once

#include <string>
#include <vector>

namespace spillway::test {

// Returns what it says of itself and of failures, on the stand-in's last device. Expects that it
// keeps what device/device.hpp promises, and that nothing is left of it.
std::vector<std::string> device_session();

}  // namespace spillway::test
