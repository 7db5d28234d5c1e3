#include "rok/rok.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <stdexcept>

#include "base/error.hpp"
#include "base/median.hpp"
#include "base/units.hpp"
#include "kernels/kernel.hpp"
#include "model/model.hpp"
#include "run/agreed_products.hpp"
#include "run/measured_machine.hpp"
#include "run/plan_run.hpp"
#include "run/prepare.hpp"
#include "run/run_memory.hpp"
#include "runtime/engine.hpp"
#include "samples/random_batches.hpp"
#include "state/model_state.hpp"
#include "train/commit_policy.hpp"

namespace spillway {
namespace {

// Returns a Config with one micro-batch of `micro` sequences per step, in which all layers have
// `policy`, if there is one, and else only the prefetch is left open.
Config config_at(Config config, std::optional<BlockPolicy> policy, std::int64_t micro) {
  config.batch = {micro, micro};
  auto& plan = config.plan;
  plan.activations = Asked<BlockPlan>(1);
  if (policy) plan.activations = {BlockPlan{*policy, 1}};
  for (auto* places : {&plan.parameters, &plan.gradients, &plan.optimizer})
    for (auto& place : *places) place = place.value_or(Tier::device);
  return config;
}

std::unique_ptr<BatchSource> make_batches(RokParts const& parts, std::int64_t micro) {
  BatchShape const shape{micro, micro, 0, 1};
  if (parts.data != nullptr)
    return std::make_unique<TrainBatches>(parts.data->texts(), parts.data->recipe, shape);
  auto const lengths = stack_lengths(parts.config.data, objective_of(parts.config));
  return std::make_unique<RandomBatches>(shape, lengths, parts.vocab, parts.config.run.seed);
}

void require_done(StepResult const& result, RunMemory const& memory) {
  if (result.word == CommitWord::go || result.word == CommitWord::nothing) return;
  if (result.word == CommitWord::non_finite)
    throw Error(Status::non_finite, "the loss or the gradient norm is not finite");
  throw Error(Status::storage, memory.spill()->first_failure());
}

// Trains for parts.steps steps, stores the measurements in `row`, and frees all memory.
void run_steps(RokParts const& parts, Config const& config, Program const& program,
               std::int64_t host_threads, RokRow& row) {
  RunMemory memory(config, parts.here->device, program);
  memory.make_spill_file(config, program, parts.comm.rank());
  auto const batches = make_batches(parts, row.micro);
  auto const decide = [&config](CommitSums const& sums) {
    return decide_commit(config.optim, config.run.steps, sums.step, sums);
  };
  Engine engine({program, memory.tiers(), parts.here->kernels, parts.comm, *batches,
                 CommitPolicy(decide), nullptr, host_threads, parts.here->make_watch});
  ModelState(program, memory.tiers(), 0).initialise(config.run.seed);
  std::vector<double> step_s;
  for (std::int64_t step = 0; step < parts.steps; ++step) {
    auto const result = engine.run_step(step);
    require_done(result, memory);
    if (step == 0) continue;  // not timed, because it also touches memory for the first time
    step_s.push_back(result.step_s);
    row.spilled_bytes += result.lanes.use[index(Lane::nvme_write)].bytes;
  }
  engine.finish();
  row.spilled_bytes /= std::ssize(step_s);
  auto const [least, most] = std::ranges::minmax(step_s);
  row.least_step_s = least;
  row.most_step_s = most;
  row.step_s = median(std::move(step_s));
  for (std::size_t tier = 0; tier < kTiers; ++tier)
    row.peak_bytes[tier] = memory.tiers().in_use[tier].value();
  auto const device = index(Tier::device);
  row.activation_bytes = row.peak_bytes[device] - program.persistent_bytes[device];
}

Solution solve_at(Budgets const& budgets, Config const& config, Graph const& graph,
                  Machine const& machine) {
  try {
    return solve({graph, nullptr, plan_request(config), budgets, machine, 1, 1});
  } catch (std::invalid_argument const& error) {
    throw Error(Status::bad_input, error.what());
  }
}

RokRow measure_point(RokParts const& parts, Machine const& machine, Budgets const& budgets,
                     std::optional<BlockPolicy> policy, Choices const& choices) {
  RokRow row{policy, choices.micro, parts.config.data.sequence};
  auto const config = config_at(parts.config, policy, choices.micro);
  auto const graph =
      training_graph(config, parts.vocab, make_arithmetic(config, choices, 1, machine.target));
  auto solution = solve_at(budgets, config, graph, machine);
  if (!solution.chosen) {
    row.planned_bytes = solution.smallest.peak_bytes;
    row.why = describe(solution.smallest, graph, budgets);
    return row;
  }
  auto& program = solution.chosen->compiled.train;
  program.arithmetic.products = agreed_products(std::array{&graph}, *parts.here, {}, parts.comm);
  row.planned_bytes = program.peak_bytes;
  row.predicted_step_s = solution.chosen->step_s;
  try {
    run_steps(parts, config, program, machine.host_threads(), row);
    // Error(cannot_fit) means that less memory or storage is free than the budgets promised.
  } catch (Error const& error) {
    if (error.status() != Status::cannot_fit) throw;
    row.why = error.what();
  }
  return row;
}

}  // namespace

std::string RokRow::words() const {
  if (policy) return std::string(name());
  return fmt::format("{}, {}", name(), human_bytes(budget_bytes));
}

std::vector<BlockPolicy> rok_policies(Budgets const& budgets) {
  std::vector<BlockPolicy> result;
  for (PolicyRow const& row : kPolicyTable) {
    if (allows(budgets, row.policy)) result.push_back(row.policy);
  }
  return result;
}

std::vector<std::int64_t> rok_micros(std::int64_t micro, std::int64_t sequences) {
  std::set<std::int64_t> const micros = {std::max<std::int64_t>(1, micro / 2), micro,
                                         std::max(micro, std::min(2 * micro, sequences))};
  return {micros.begin(), micros.end()};
}

std::vector<std::int64_t> rok_budgets(std::span<RokRow const> uniform) {
  std::vector<std::int64_t> bytes;
  for (auto const& row : uniform)
    if (row.fits()) bytes.push_back(row.planned_bytes[Tier::device]);
  if (bytes.empty()) return {};
  std::ranges::sort(bytes);
  std::set<std::int64_t> const budgets = {bytes.front(), bytes[bytes.size() / 2], bytes.back()};
  return {budgets.begin(), budgets.end()};
}

std::int64_t most_points(std::span<std::int64_t const> micros, Budgets const& budgets) {
  return std::ssize(micros) * (std::ssize(rok_policies(budgets)) + kMostRokBudgets);
}

std::vector<RokRow> measure_rok(RokParts const& parts, std::span<std::int64_t const> micros,
                                std::function<void(RokRow const&, std::int64_t)> const& told) {
  auto const policies = rok_policies(parts.budgets);
  auto left = most_points(micros, parts.budgets);
  std::vector<RokRow> rows;
  for (auto const micro : micros) {
    auto choices = parts.here.choices();
    choices.micro = micro;
    auto const machine =
        planned_for(config_at(parts.config, BlockPolicy::keep, micro), parts.vocab, choices,
                    parts.here.cores(), parts.budgets.device_bytes / 2, *parts.here, parts.comm);
    // All policies are measured before the next size, since the speed of a machine drifts.
    auto const first = rows.size();
    std::vector<std::int64_t> within;
    for (auto const policy : policies) {
      rows.push_back(measure_point(parts, machine, parts.budgets, policy, choices));
      if (policy == policies.back()) {
        within = rok_budgets(std::span(rows).subspan(first));
        left -= kMostRokBudgets - std::ssize(within);
      }
      told(rows.back(), --left);
    }
    for (auto const bytes : within) {
      auto budgets = parts.budgets;
      budgets.device_bytes = bytes;
      rows.push_back(measure_point(parts, machine, budgets, std::nullopt, choices));
      rows.back().budget_bytes = bytes;
      told(rows.back(), --left);
    }
  }
  std::ranges::stable_sort(rows, {}, &RokRow::policy);
  return rows;
}

}  // namespace spillway
