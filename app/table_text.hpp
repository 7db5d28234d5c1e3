// Writes a PlanTable whose rows were planned, for people.
#pragma once

#include <string>

#include "app/plan_table.hpp"

namespace spillway {

// Returns lines of at most 100 columns: one for each row, and one that says which is fastest and
// which budgets are the least that fit. What has one value is left out, and so are the last columns
// if all would not fit in a line.
std::string table_text(PlanTable const& table);

}  // namespace spillway
