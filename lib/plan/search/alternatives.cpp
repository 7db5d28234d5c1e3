#include "plan/search/alternatives.hpp"

#include <fmt/core.h>

#include <numeric>
#include <optional>
#include <string_view>

#include "base/checked.hpp"
#include "plan/time/critical_path.hpp"

namespace spillway {

bool knows_rates(Machine const& machine, TierBytes const& peaks) {
  bool const drive = machine.nvme_read_gbps > 0 && machine.nvme_write_gbps > 0;
  bool const link = machine.memory_gbps > 0 || (machine.h2d_gbps > 0 && machine.d2h_gbps > 0);
  return (drive || peaks[Tier::nvme] == 0) && (link || peaks[Tier::host] == 0);
}

namespace {

CostedPlan costed(PlanQuestion const& question, Solution const& solution) {
  auto const& [chosen, smallest, estimated, compiled] = solution;
  auto const& peaks = chosen ? chosen->compiled.train.peak_bytes : smallest.peak_bytes;
  CostedPlan best{chosen ? chosen->plan : smallest.plan, {chosen.has_value(), peaks}};
  if (knows_rates(question.machine, peaks))
    best.cost.step_s = chosen ? chosen->step_s : simulated_step_s(question, smallest.plan);
  return best;
}

}  // namespace

CostedPlan best_plan(PlanQuestion const& question) {
  return costed(question, solve(question));
}

PerLane<double> chain_seconds(Program const& program, Simulation const& simulation) {
  PerLane<double> seconds{};
  for (auto const& share : shares(program, critical_path(program, simulation)))
    seconds[share.lane] += share.seconds;
  return seconds;
}

std::vector<Alternative> alternatives(PlanQuestion const& question) {
  std::vector<Alternative> result;
  using enum BlockPolicy;
  for (BlockPolicy const policy : {keep, recompute, host, nvme}) {
    auto other = question;
    other.request.activations = {BlockPlan{policy, 1}};
    auto const solution = solve(other);
    auto cost = costed(other, solution).cost;
    if (solution.chosen && cost.step_s > 0) {
      auto const& program = solution.chosen->compiled.train;
      cost.chain_s = chain_seconds(program, simulate(program, other.machine));
    }
    result.push_back({"all-" + std::string(name(policy)), cost});
  }
  return result;
}

std::vector<MoreRoom> one_more_gib(PlanQuestion const& question) {
  std::vector<MoreRoom> result;
  for (Tier const tier : kTiersInOrder) {
    auto other = question;
    if (!has_tier(other.budgets, tier)) continue;
    other.budgets.*budget_of(tier) += std::int64_t{1} << 30;
    result.push_back({tier, best_plan(other).cost});
  }
  return result;
}

std::optional<std::int64_t> sufficient_bytes(PlanQuestion const& question, Tier tier) {
  if (!has_tier(question.budgets, tier)) return std::nullopt;
  auto other = question;
  auto& budget = other.budgets.*budget_of(tier);
  // Returns what the fastest plan needs of the tier if it may use `bytes`, or nothing.
  auto const needed = [&](std::int64_t bytes) -> std::optional<std::int64_t> {
    budget = bytes;
    auto const chosen = solve(other).chosen;
    if (!chosen) return std::nullopt;
    return chosen->compiled.train.peak_bytes[tier];
  };
  auto enough = needed(kMostBytes);
  if (!enough) return std::nullopt;
  auto too_few = question.budgets.*budget_of(tier);
  auto perhaps = *enough;
  for (int halvings = 0; halvings < 5 && too_few < perhaps; ++halvings) {
    auto const middle = budget = std::midpoint(too_few, perhaps);
    (outlook(other).fits ? perhaps : too_few) = middle;
  }
  if (perhaps == *enough) return enough;
  if (auto const fewer = needed(perhaps)) return fewer;
  auto const more = perhaps + perhaps / 32;  // plans may need a little more than estimated
  return more < *enough && needed(more) ? more : enough;
}

std::vector<Alternative> shardings(PlanQuestion const& question) {
  std::vector<Alternative> result;
  bool const are_whole =
      std::ranges::any_of(question.train.chunks, &Chunk::is_updated_whole);  // by every rank
  auto const add = [&](Shard shard, std::optional<ShardRanks> which, std::string_view where) {
    bool const is_refused =
        (shard == Shard::all && !question.may_gather()) || (shard != Shard::none && are_whole);
    if (question.ranks == 1 || is_refused) return;
    auto other = question;
    other.request.shard = {shard};
    other.request.shard_ranks = which;
    auto const expected = outlook(other);
    bool const known = exchange_gbps(question.machine, all_ranks(question.ranks)) > 0 &&
                       knows_rates(question.machine, expected.peak_bytes);
    result.push_back({fmt::format("{}{}", word(shard), where),
                      {expected.fits, expected.peak_bytes, known ? expected.step_s : 0}});
  };
  for (Shard const shard : kShards) add(shard, question.request.shard_ranks, "");
  if (question.open_sharers_of_nodes() == 0) return result;
  for (Shard const shard : {Shard::gradients, Shard::all}) add(shard, ShardRanks::node, "/node");
  return result;
}

}  // namespace spillway
