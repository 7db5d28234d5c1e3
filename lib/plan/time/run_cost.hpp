// Says what a run over a number of tokens takes: time, energy, money and the life of drives.
#pragma once

#include <cstdint>

#include "plan/data/machine.hpp"
#include "plan/time/drive_use.hpp"

namespace spillway {

// A StepCost says what is known of each step of a run, and of its checkpoints.
struct StepCost {
  double tokens = 0;  // that all ranks train on
  double step_s = 0;  // 0 if unknown
  DriveUse drive = {};
  std::int64_t ranks = 1;
  double save_s = 0;            // for a checkpoint, during which no step is made
  std::int64_t save_every = 0;  // steps between checkpoints; 0 means only one at the end
};

struct RunCost {
  double tokens = 0;  // as asked
  double steps = 0, checkpoints = 0;
  double seconds = 0, checkpoints_s = 0;  // seconds: of steps and checkpoints; 0 if unknown
  double written_bytes = 0;               // to the drives of a node, by spilling
  // These are the parts of the drives' life that these bytes take, as drives are rated and as a
  // spill file uses them (see `wear_gain`). More than 1 means that they do not last.
  double rated_wear = 0, used_wear = 0;
  double energy_kwh = 0, price = 0;  // of all ranks; 0 if the machine does not say
};

// The last step is a whole one, even if not all of its tokens are asked for.
RunCost run_cost(double tokens, StepCost const& step, Machine const& machine);

}  // namespace spillway
