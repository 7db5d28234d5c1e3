// Explains to a person why a plan is as it is.
#pragma once

#include <string>

#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

// The first sentence says whether the plan fits and what sets the pace.
std::string explain(Graph const& graph, Plan const& plan, Program const& program,
                    Simulation const& simulation, Machine const& machine, Budgets const& budgets);

}  // namespace spillway
