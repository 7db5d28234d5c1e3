#include "train/told_times.hpp"

#include <algorithm>

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

StepResult told_of_rank(StepResult result, bool is_slow, std::span<MutualWait> waits) {
  std::ranges::fill(waits, MutualWait{});
  auto const last = waits.size() - 1;
  RankWait const wait{kToldStepSeconds / 2, static_cast<int>(last), kToldStepSeconds / 2};
  for (std::size_t rank = 0; is_slow && rank < last; ++rank) add_wait(waits, rank, wait);
  result.step_s = kToldStepSeconds;
  result.waits = waits;
  return result;
}

}  // namespace spillway
