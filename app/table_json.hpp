// Writes a PlanTable whose rows were planned, for programs.
#pragma once

#include <string>

#include "app/plan_table.hpp"

namespace spillway {

// Returns JSON: `varied`, the names of what the options list; `rows`; `fastest` and `cheapest`, the
// numbers of rows, from 0, or null; and `least`, the smallest of each budget that fits, in bytes.
std::string table_json(PlanTable const& table);

}  // namespace spillway
