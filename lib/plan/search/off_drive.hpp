// Of plans that are about as fast, the one that writes the least to the drive is the best. Searches
// try what may be faster, so the best plan may never have been tried with less on the drive.
#pragma once

#include "plan/data/open_plan.hpp"
#include "plan/search/trials.hpp"

namespace spillway {

// Tries the best plan with what it has on the drive in host memory instead, as far as that is open
// and has room: activations, gradients, optimizer state and parameters, each for itself. Keeps what
// is as fast, by simulation. Returns how many plans were estimated. Does nothing if no plan was
// found.
int try_off_drive(PlanQuestion const& question, OpenPlan const& open, Estimator const& estimator,
                  Trials& trials);

}  // namespace spillway
