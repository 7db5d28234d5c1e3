#include "plan/solve.hpp"

#include <algorithm>
#include <tuple>

#include "base/math.hpp"
#include "base/units.hpp"

namespace spillway {

namespace {

// What "auto" may stand for, in the order of trial.
std::vector<std::optional<BlockPolicy>> candidates(PlanRequest const& request,
                                                   Budgets const& budgets) {
  auto const& list = request.activations;
  bool const open = std::find(list.begin(), list.end(), "auto") != list.end();
  if (!open) return {std::nullopt};
  if (budgets.nvme_bytes == 0) return {BlockPolicy::keep, BlockPolicy::recompute};
  return {BlockPolicy::keep, BlockPolicy::recompute, BlockPolicy::nvme};
}

std::int64_t at(Need const& need, Tier tier) {
  return need.peak_bytes[index(tier)];
}

// All tiers but the device.
bool rest_fits(Need const& need, Budgets const& budgets) {
  return at(need, Tier::host) <= budgets.host_bytes && at(need, Tier::nvme) <= budgets.nvme_bytes;
}

bool fits(Need const& need, Budgets const& budgets) {
  return at(need, Tier::device) <= budgets.device_bytes && rest_fits(need, budgets);
}

bool leaves_the_device(Program const& program) {
  return std::ranges::any_of(program.items,
                             [](Item const& item) { return item.kind == ItemKind::copy; });
}

// Twice as far for as long as that fits and is worth it.
template <class Compile>
void prefetch_farther(Solution::Choice& choice, Budgets const& budgets, Machine const& machine,
                      Compile const& compiled) {
  constexpr double worth_it = 0.99;  // of a step: rates are not known better
  constexpr int most = 8;
  if (!leaves_the_device(choice.compiled.train)) return;
  auto const step_s = [&](Compiled& placed) {
    derive_waits(placed.train);
    return simulate(placed.train, machine).step_s;
  };
  double best_s = step_s(choice.compiled);
  for (Plan plan = choice.plan; plan.prefetch < most;) {
    plan.prefetch *= 2;
    Compiled placed = compiled(plan);
    if (!fits({choice.automatic, placed.train.peak_bytes}, budgets)) return;
    double const this_s = step_s(placed);
    if (this_s > worth_it * best_s) return;
    best_s = this_s;
    choice.plan = plan;
    choice.compiled = std::move(placed);
  }
}

Need smallest(std::vector<Need> const& needs, Budgets const& budgets) {
  auto const rank = [&](Need const& need) {
    return std::tuple(!rest_fits(need, budgets), at(need, Tier::device), at(need, Tier::nvme));
  };
  return *std::min_element(needs.begin(), needs.end(),
                           [&](auto const& a, auto const& b) { return rank(a) < rank(b); });
}

}  // namespace

Solution solve(Graph const& train, Graph const* eval, PlanRequest const& request,
               Budgets const& budgets, Machine const& machine, std::int64_t micro_batches,
               std::int64_t ranks) {
  Solution solution;
  auto const compiled = [&](Plan const& plan) {
    return place(train, eval, plan, micro_batches, ranks);
  };
  for (auto const automatic : candidates(request, budgets)) {
    Plan plan = make_plan(train, request, automatic.value_or(BlockPolicy::keep));
    Compiled placed = compiled(plan);
    Need const need{automatic, placed.train.peak_bytes};
    solution.needs.push_back(need);
    if (!fits(need, budgets)) continue;
    solution.choice = {std::move(plan), std::move(placed), automatic};
    break;
  }
  if (auto& choice = solution.choice) {
    if (!request.prefetch) prefetch_farther(*choice, budgets, machine, compiled);
    prove(choice->compiled);
  }
  solution.smallest = smallest(solution.needs, budgets);
  return solution;
}

std::string describe(Need const& need) {
  constexpr std::int64_t mebibyte = 1 << 20;
  auto const budget = [&](Tier tier) { return format_bytes(round_up(at(need, tier), mebibyte)); };
  std::string text = "needs at least device " + budget(Tier::device);
  for (Tier const tier : {Tier::host, Tier::nvme}) {
    if (at(need, tier) > 0) text += " and " + std::string(name(tier)) + " " + budget(tier);
  }
  if (need.automatic) text += " (activations: " + std::string(name(*need.automatic)) + ")";
  return text;
}

}  // namespace spillway
