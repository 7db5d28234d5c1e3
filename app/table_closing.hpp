// What a PlanTable comes to.
#pragma once

#include <string>

#include "app/plan_table.hpp"

namespace spillway {

// Returns a sentence that names the fastest row, the cheapest one, and of each budget that varies
// the least that fits, or "" if a table of one row has nothing to add.
std::string closing_words(PlanTable const& table);

}  // namespace spillway
