// What a step's time goes into, how busy the lanes are in it and what they move, as lines of text.
#pragma once

#include <string>
#include <vector>

#include "plan/time/critical_path.hpp"

namespace spillway {

std::string time_text(Program const& program, Simulation const& simulation,
                      std::vector<LaneShare> const& path);

}  // namespace spillway
