// Predicts where the compute lane's time goes, for the table at the end of a run.
#pragma once

#include "plan/data/program.hpp"
#include "plan/time/simulate.hpp"
#include "report/time_table.hpp"

namespace spillway {

// Returns what a step spends on each part of the work and on each lane that compute waits for, as
// simulated. Of several lanes that an item waits for, the one that ends last counts. `whole_s` is
// the time of the step.
TrainingTimes predicted_step(Program const& program, Simulation const& simulation);

}  // namespace spillway
