#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "base/math.hpp"
#include "config/load.hpp"
#include "io/file/file.hpp"
#include "kernels/exec.hpp"
#include "kernels/scope.hpp"
#include "plan/machine_file.hpp"
#include "runtime/process_memory.hpp"
#include "train/cores.hpp"
#include "train/data.hpp"
#include "train/measured_machine.hpp"
#include "train/plan_run.hpp"

namespace spillway {
namespace {

// What a run is planned for.
struct Target {
  Machine machine;
  Budgets budgets;
  Choices choices;
};

std::int64_t vocabulary(Config const& config) {
  if (config.model.vocab > 0) return config.model.vocab;
  if (config.data.train.empty())
    throw Error(Status::bad_input, "model.vocab: give it, or data.train to take it from");
  return open_data(config).vocab;
}

// A rank's share of another machine, where the input file does not say.
Budgets budgets_of(Config const& config, Machine const& machine, std::int64_t node_ranks) {
  auto const& memory = config.memory;
  auto const host = machine.host_bytes / node_ranks * 8 / 10;
  auto const nvme = machine.nvme_bytes / node_ranks;
  auto const device = machine.is_unified() ? std::max<std::int64_t>(0, host - memory.host_bytes)
                                           : machine.device_bytes;
  auto const host_tier = machine.is_unified() ? 0 : host;
  return {memory.device_bytes.value_or(device),
          memory.host_bytes > 0 ? memory.host_bytes : host_tier,
          memory.nvme_bytes > 0 ? memory.nvme_bytes : nvme};
}

Target other_machine(Config const& config, std::string const& file, std::int64_t ranks) {
  Target target{load_machine(file), {}, {}};
  auto const node_ranks = std::min(ranks, target.machine.node_ranks);
  target.machine = shared_by(std::move(target.machine), node_ranks);
  target.budgets = budgets_of(config, target.machine, node_ranks);
  auto const cores = std::max<std::int64_t>(1, std::llround(target.machine.compute_cores));
  target.choices = choose(config, nullptr, cores, ranks);
  require_rates(target.machine, config.precision == Precision::bf16, target.budgets.nvme_bytes > 0,
                file);
  return target;
}

Target this_machine(Config const& config, std::int64_t vocab, std::int64_t ranks) {
  auto const cores = std::max<std::int64_t>(1, available_cores() / ranks);
  Target target{{}, {}, choose(config, nullptr, cores, ranks)};
  KernelScope const kernels(static_cast<int>(target.choices.threads));
  Exec const exec;
  auto const alone = make_single_rank_comm();
  auto const& path = config.memory.nvme_path;
  target.budgets =
      budgets(config, {available_memory_bytes(), path.empty() ? 0 : free_bytes(path)}, ranks);
  target.machine = measured_machine(config, vocab, target.choices, cores,
                                    target.budgets.device_bytes, exec, *alone);
  return target;
}

nlohmann::ordered_json tiers_json(std::array<std::int64_t, kTiers> const& bytes) {
  nlohmann::ordered_json json;
  for (Tier const tier : {Tier::device, Tier::host, Tier::nvme})
    json[std::string(name(tier))] = bytes[index(tier)];
  return json;
}

std::string json_text(Config const& config, Target const& target, PlannedRun const& planned,
                      Simulation const& simulation, std::int64_t ranks,
                      std::string const& explanation) {
  auto const& peaks = planned.programs.train.peak_bytes;
  auto const spilled = simulation.bytes[index(Lane::nvme_write)];
  auto const tokens = static_cast<double>(config.batch.sequences * config.data.sequence);
  auto const node_ranks = std::min(ranks, target.machine.node_ranks);
  constexpr double year_s = 365.25 * 24 * 3600;
  double const lifetime = spilled == 0 ? 0
                                       : static_cast<double>(target.machine.nvme_endurance_bytes) /
                                             static_cast<double>(spilled * node_ranks) *
                                             simulation.step_s / year_s;
  nlohmann::ordered_json const json = {
      {"plan", to_yaml(planned.plan, planned.train)},
      {"predicted",
       {{"step_s", simulation.step_s},
        {"tokens_per_s", simulation.step_s > 0 ? tokens / simulation.step_s : 0},
        {"peak_bytes", tiers_json(peaks)},
        {"host_bytes", peaks[index(Tier::host)]},
        {"nvme_bytes", peaks[index(Tier::nvme)]},
        {"spill_bytes_per_step", spilled},
        {"ssd_lifetime_years", lifetime}}},
      {"search_s", planned.search_s},
      {"candidates", planned.looked_at},
      {"verdict", explanation.substr(0, explanation.find('\n'))}};
  return json.dump(2) + "\n";
}

}  // namespace

Status run_plan(PlanArguments const& arguments) {
  auto config = load_config(arguments.input, arguments.overrides);
  if (!config.plan.file.empty()) config.plan = load_plan(config.plan.file);
  auto const vocab = vocabulary(config);
  auto const ranks = arguments.ranks;
  auto const target = arguments.machine.empty() ? this_machine(config, vocab, ranks)
                                                : other_machine(config, arguments.machine, ranks);
  auto const planned = plan_run(config, vocab, target.choices, !config.batch.micro, target.budgets,
                                target.machine, ranks);
  auto const simulation = simulate(planned.programs.train, target.machine);
  auto const text =
      explain(planned.train, planned.plan, planned.programs.train, simulation, target.budgets);
  if (!arguments.save.empty()) replace_text(arguments.save, to_yaml(planned.plan, planned.train));
  fmt::print("{}",
             arguments.json
                 ? json_text(config, target, planned, simulation, ranks, text)
                 : text + fmt::format("searched {} plans and compiled {} in {:.0f} ms\n",
                                      planned.looked_at, planned.compiled, 1e3 * planned.search_s));
  return Status::done;
}

}  // namespace spillway
