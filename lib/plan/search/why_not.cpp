#include "plan/search/why_not.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "plan/proof/derive.hpp"
#include "plan/search/candidate.hpp"
#include "plan/search/needs.hpp"
#include "plan/search/other_choices.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {
namespace {

// Of Programs with no more items than this in all every one is compiled, since that is fast and
// estimates of small models are rough.
constexpr std::size_t kShortItems = 20'000;
// No Program is compiled beside one of more items, because both take much memory.
constexpr std::size_t kMostItemsBeside = 50'000;
// Estimated peaks of others may be this much too high.
constexpr double kNearly = 1.03;

// Returns nothing if the plan writes more to the drive than it may.
std::optional<PlanCost> exact_cost(PlanQuestion const& question, Plan const& plan) {
  auto program = compile_without_waits(question.train, question.eval, plan, question.micro_batches,
                                       question.ranks)
                     .train;
  derive_waits(program);
  auto const peaks = limited_peaks(question, plan, program);
  auto const step = simulate(program, question.machine);
  if (forbidden_bytes_per_s(step, question.budgets) > 0) return std::nullopt;
  return PlanCost{fits(peaks, question.budgets), peaks, step.step_s};
}

bool nearly_fits(TierBytes const& peaks, Budgets const& budgets) {
  return std::ranges::all_of(kTiersInOrder, [&](Tier tier) {
    auto const most = kNearly * static_cast<double>(budgets.*budget_of(tier));
    return static_cast<double>(peaks[tier]) <= most;
  });
}

// Returns the other plan's estimate, set right by what that of the decided plan is off.
PlanCost corrected_cost(PlanEstimate const& other, PlanEstimate const& own,
                        DecidedPlan const& decided, Budgets const& budgets) {
  PlanCost result{false, other.peak_bytes, other.step_s * decided.step_s / own.step_s};
  for (Tier const tier : kTiersInOrder) {
    auto& bytes = result.peak_bytes[tier];
    if (bytes > 0)
      bytes = std::max<std::int64_t>(
          0, bytes + decided.program.peak_bytes[tier] - own.peak_bytes[tier]);
  }
  result.fits = fits(result.peak_bytes, budgets);
  return result;
}

}  // namespace

std::vector<OtherChoice> why_not(PlanQuestion const& question, DecidedPlan const& decided) {
  auto const others = other_choices(question, decided.plan);
  std::vector<Plan> plans = {decided.plan};
  for (auto const& other : others) plans.push_back(other.plan);
  auto const estimated = estimates(question, plans);
  bool const are_short = decided.program.items.size() * others.size() <= kShortItems;
  std::vector<OtherChoice> result;
  for (std::size_t i = 0; i < others.size(); ++i) {
    auto const& [words, key, other, gives_up] = others[i];
    auto cost = corrected_cost(estimated[i + 1], estimated[0], decided, question.budgets);
    try {
      bool const is_near = nearly_fits(cost.peak_bytes, question.budgets);
      if (are_short || (is_near && decided.program.items.size() <= kMostItemsBeside)) {
        auto const exact = exact_cost(question, other);
        if (!exact) continue;
        cost = *exact;
      }
    } catch (std::invalid_argument const&) {
      continue;  // no schedule offers it
    }
    if (!knows_rates(question.machine, cost.peak_bytes)) cost.step_s = 0;
    if (gives_up && cost.step_s >= decided.step_s) continue;
    result.push_back({words, key, cost});
  }
  return result;
}

}  // namespace spillway
