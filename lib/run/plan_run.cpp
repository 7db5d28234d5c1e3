#include "run/plan_run.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/math.hpp"
#include "base/steady_clock.hpp"
#include "base/units.hpp"
#include "plan/data/budget_key.hpp"
#include "plan/proof/alike.hpp"
#include "plan/search/alternatives.hpp"
#include "run/existing_memory.hpp"
#include "run/run_question.hpp"

namespace spillway {
namespace {

// Lists the budgets that are too small with their values. The `node_ranks` ranks of a node share
// the bytes that may be written each day.
std::string short_budgets(Need const& need, Budgets const& budgets, MemoryConfig const& memory,
                          std::int64_t node_ranks) {
  auto const missing = missing_bytes(need.peak_bytes, budgets);
  std::vector<std::string> texts;
  for (Tier const tier : {Tier::device, Tier::host, Tier::nvme})
    if (missing[tier] > 0)
      texts.push_back(
          fmt::format("{} = {}", budget_key(tier), human_bytes(budgets.*budget_of(tier))));
  auto const asked_bytes = memory.nvme_bytes_here();
  if (missing[Tier::nvme] > 0 && budgets.nvme_bytes < asked_bytes)
    texts.back() += fmt::format(" ({} no {})", drives_have(memory), human_bytes(asked_bytes));
  if (need.nvme_bytes_per_s > 0) {
    auto const a_day = budgets.nvme_bytes_per_s * kDayS * static_cast<double>(node_ranks);
    texts.push_back(fmt::format("spill.max_write_per_day = {}", human_bytes(clamped_whole(a_day))));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Returns a text such as "; memory.host=450GiB would do, too" if more of one tier beside the
// device is enough, and the need does not say so already. Of models whose searches take seconds it
// says nothing.
std::string other_ways(PlanQuestion const& question, Need const& need) {
  constexpr std::size_t most_blocks = 256;
  if (question.train.blocks.size() > most_blocks) return "";
  auto const missing = missing_bytes(need.peak_bytes, question.budgets);
  std::string text;
  for (Tier const tier : {Tier::host, Tier::nvme}) {
    if (missing[tier] == all_missing_bytes(need.peak_bytes, question.budgets)) continue;
    auto const bytes = sufficient_bytes(question, tier);
    if (!bytes) continue;
    text += fmt::format("; {}={} would do, too", budget_key(tier), format_bytes_up(*bytes));
  }
  return text;
}

[[noreturn]] void refuse(PlanQuestion const& question, Need const& need,
                         MemoryConfig const& memory) {
  auto const& budgets = question.budgets;
  auto const node_ranks = std::min(question.ranks, question.machine.node_ranks);
  throw Error(Status::cannot_fit, fmt::format("{}: {}; its steps would take {}{}",
                                              short_budgets(need, budgets, memory, node_ranks),
                                              describe(need, question.train, budgets, node_ranks),
                                              human_duration(simulated_step_s(question, need.plan)),
                                              other_ways(question, need)));
}

}  // namespace

PlanRequest plan_request(Config const& config) {
  return {config.plan, config.optim.awaits_norm()};
}

bool may_replan(Config const& config) {
  return config.plan.replan && config.batch.share.empty();
}

Program const& longest_step(PlannedRun const& planned) {
  return planned.longest ? *planned.longest : planned.programs.train;
}

StepBound bound_of(PlannedRun const& planned, Config const& config, Machine const& machine,
                   Budgets const& budgets, double step_s) {
  auto const& program = longest_step(planned);
  return step_bound({planned.train, machine, budgets, program.micro_batches, program.ranks,
                     plan_request(config).norm_is_awaited},
                    planned.plan, step_s);
}

void compile_for_rank(PlannedRun& planned, std::int64_t micro_batches) {
  auto& train = planned.programs.train;
  if (train.micro_batches == micro_batches) return;
  auto own = compile(planned.train, planned.eval ? &*planned.eval : nullptr, planned.plan,
                     micro_batches, train.ranks);
  require_alike_exchanges(train, own.train);
  planned.longest = std::move(train);
  planned.programs = std::move(own);
}

void set_products(PlannedRun& planned, ProductChoices const& products) {
  planned.train.arithmetic.products = products;
  planned.programs.train.arithmetic.products = products;
  if (planned.eval) planned.eval->arithmetic.products = products;
  if (planned.programs.eval) planned.programs.eval->arithmetic.products = products;
}

PlannedRun plan_run(Config const& config, std::int64_t vocab, Target const& target) {
  for (std::optional<Choices> choices = target.choices;;) {
    auto graphs = run_graphs(config, vocab, target, *choices);
    try {
      auto const begin = SteadyClock::now();
      auto const question = run_question(config, target, graphs);
      auto solution = solve(question);
      if (solution.chosen) {
        return {std::move(graphs.train),
                std::move(graphs.eval),
                std::move(solution.chosen->plan),
                std::move(solution.chosen->compiled),
                std::nullopt,
                solution.estimated,
                solution.compiled,
                seconds_since(begin)};
      }
      choices = with_less_memory(*choices);
      if (!choices) refuse(question, solution.smallest, config.memory);
    } catch (std::invalid_argument const& error) {
      throw Error(Status::bad_input, error.what());
    }
  }
}

}  // namespace spillway
