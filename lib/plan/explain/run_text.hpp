// Tells people what a run over a number of tokens takes.
#pragma once

#include <string>

#include "plan/data/machine.hpp"
#include "plan/time/run_cost.hpp"

namespace spillway {

// Returns a number of tokens as text with three digits at most, such as "100B" or "1.5T".
std::string tokens_text(double tokens);
// Returns an amount such as "0.25", "12.3", "1234" or "12.3 million".
std::string amount_text(double amount);

// Returns lines on time, drives, energy and price. What the machine does not say of these two is
// said with the key that would.
std::string run_text(RunCost const& run, Machine const& machine);

}  // namespace spillway
