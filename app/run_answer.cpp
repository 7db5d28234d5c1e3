#include "app/run_answer.hpp"

#include "app/plan_once.hpp"
#include "state/restored_start.hpp"
#include "train/save_time.hpp"

namespace spillway {

RunCost run_of(double tokens, Config const& config, PlannedRun const& planned,
               Simulation const& simulation, Machine const& machine) {
  auto const ranks = planned.programs.train.ranks;
  StepCost const step{
      tokens_of_step(config),
      simulation.step_s,
      drive_use(simulation.bytes[Lane::nvme_write], simulation.step_s, ranks, machine),
      ranks,
      estimate_save(planned.train, leaves_base(config.run), machine, ranks).seconds(),
      config.run.checkpoint.every};
  return run_cost(tokens, step, machine);
}

nlohmann::ordered_json run_json(RunCost const& run) {
  using Json = nlohmann::ordered_json;
  auto const known = [](double value) { return value > 0 ? Json(value) : Json(nullptr); };
  return {{"tokens", run.tokens},
          {"steps", run.steps},
          {"seconds", known(run.seconds)},
          {"checkpoints", run.checkpoints},
          {"checkpoints_s", known(run.checkpoints_s)},
          {"written_bytes", run.written_bytes},
          {"rated_wear", run.rated_wear},
          {"used_wear", run.used_wear},
          {"energy_kwh", known(run.energy_kwh)},
          {"price", known(run.price)}};
}

}  // namespace spillway
