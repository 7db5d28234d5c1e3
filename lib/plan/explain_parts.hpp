// Parts of `explain`, each a few lines of text.
#pragma once

#include <string>

#include "plan/critical_path.hpp"

namespace spillway {

// What fills each tier when the most of it is in use.
std::string peaks_text(Program const& program);
// What the step's time goes into, how busy the lanes are in it and what they move.
std::string time_text(Program const& program, Simulation const& simulation,
                      std::vector<LaneShare> const& path);

}  // namespace spillway
