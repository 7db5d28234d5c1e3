#include "train/told_times.hpp"

#include "plan/time/simulate.hpp"

namespace spillway {

StepResult told_of_slow_drive(StepResult result, Program const& program, Machine machine) {
  for (auto* rate : {&machine.nvme_read_gbps, &machine.nvme_write_gbps, &machine.nvme_both_gbps})
    *rate /= kToldSlowness;
  auto const told = simulate(program, machine);
  result.step_s = told.step_s;
  for (Lane const lane : kLanesInOrder)
    result.lanes.use[index(lane)] = {told.busy_s[lane], 0, told.bytes[lane]};
  return result;
}

}  // namespace spillway
