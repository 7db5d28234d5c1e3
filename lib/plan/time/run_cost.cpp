#include "plan/time/run_cost.hpp"

#include <cmath>

namespace spillway {

RunCost run_cost(double tokens, StepCost const& step, Machine const& machine) {
  constexpr double hour_s = 3600, joules_per_kwh = 3.6e6;
  RunCost run{.tokens = tokens, .steps = std::ceil(tokens / step.tokens)};
  run.written_bytes = run.steps * step.drive.step_bytes;
  run.rated_wear = run.written_bytes / static_cast<double>(machine.nvme_endurance_bytes);
  run.used_wear = run.rated_wear / wear_gain(machine);
  run.checkpoints =
      step.save_every > 0 ? std::ceil(run.steps / static_cast<double>(step.save_every)) : 1;
  if (step.step_s <= 0) return run;
  run.checkpoints_s = run.checkpoints * step.save_s;
  run.seconds = run.steps * step.step_s + run.checkpoints_s;
  auto const rank_seconds = run.seconds * static_cast<double>(step.ranks);
  run.energy_kwh = machine.power_w * rank_seconds / joules_per_kwh;
  run.price = machine.price_per_hour * rank_seconds / hour_s;
  return run;
}

}  // namespace spillway
