// Explains a plan to a person: whether it fits, and what takes its time and memory.
#pragma once

#include <string>

#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

// Returns a text whose first sentence says whether the plan fits and what limits its speed.
std::string explain(Graph const& graph, Plan const& plan, Program const& program,
                    Simulation const& simulation, Machine const& machine, Budgets const& budgets);

}  // namespace spillway
