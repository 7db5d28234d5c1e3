// Says at the end of a run what it came to.
#pragma once

#include <string>

#include "config/config.hpp"
#include "report/summary.hpp"

namespace spillway {

// Returns lines for a person to read: the outcome, where the time went, peaks, drives and waits.
std::string closing_lines(Summary const& summary, Config const& config);

}  // namespace spillway
