// Makes rows of tables that hold plans against each other: time, change and peak bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plan/data/budgets.hpp"
#include "plan/search/alternatives.hpp"

namespace spillway {

// Returns a heading over the columns of rows whose names take `width` columns.
std::string cost_heading(std::string_view what, std::size_t width);

// Returns a row of a plan, with the text `change` beside its time, or says what the plan lacks if
// it does not fit.
std::string cost_row(std::string_view name, PlanCost const& cost, std::string_view change,
                     Budgets const& budgets, std::size_t width);

}  // namespace spillway
