// Tells in lines of text what takes a step's time, how busy lanes are and what they move.
#pragma once

#include <string>
#include <vector>

#include "plan/time/critical_path.hpp"

namespace spillway {

std::string time_text(Program const& program, Simulation const& simulation,
                      std::vector<LaneShare> const& path);

}  // namespace spillway
