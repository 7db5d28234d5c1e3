// Describes the devices that this program can compute on.
#pragma once

#include <string>

#include "config/load.hpp"

namespace spillway {

// Says, for load_config, whether a run with this Config computes on a device of this machine.
ForMachine where_it_computes(Config const& config);

// Returns a line for each device with memory of its own that this program can use.
std::string devices_text();

}  // namespace spillway
