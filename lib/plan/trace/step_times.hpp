// Defines StepTimes, which say when the items of a step run.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/data/item_time.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

struct StepTimes {
  std::vector<ItemTime> items;  // of all items that a step runs, in total order
  double step_s = 0;            // from the begin of the step until the next one can begin
  // A simulation may leave out `times` repetitions of micro-batches, which lie between these times.
  struct LeftOut {
    double begin_s = 0, end_s = 0;
    std::int64_t times = 0;
  };
  LeftOut left_out = {};
};

// Returns the predicted times of a step. They count from when the engine would begin it: when the
// compute lane, the batches and the decision of the step before have ended. So items of other lanes
// may run before 0.
StepTimes predicted_times(Program const& program, Simulation const& simulation);

}  // namespace spillway
