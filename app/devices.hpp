// Describes the devices that this program can compute on.
#pragma once

#include <string>

#include "config/load.hpp"

namespace spillway {

// Tells load_config whether a run with this Config computes on a device of this machine.
ForMachine where_it_computes(Config const& config);

// Returns a line about each device of this machine: its name and memory, or why it cannot be used.
std::string devices_text();

}  // namespace spillway
