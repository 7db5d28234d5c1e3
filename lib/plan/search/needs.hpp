// Says what compiled plans need of the budgets.
#pragma once

#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

// Returns the peaks that budgets limit, of the rank that needs most; `train` is the plan's Program
// for most micro-batches. A device with memory of its own needs batches and scalars in host memory
// even if there is no host tier.
TierBytes limited_peaks(PlanQuestion const& question, Plan const& plan, Program const& train);

// Returns how many bytes a second the step writes to the drive if the budgets allow fewer, else 0.
double forbidden_bytes_per_s(Simulation const& step, Budgets const& budgets);

// Compiles and simulates a plan, which need not fit.
Simulation simulated_step(PlanQuestion const& question, Plan const& plan);

}  // namespace spillway
