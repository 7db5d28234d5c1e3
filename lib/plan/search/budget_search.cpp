#include "plan/search/budget_search.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace spillway {

namespace {

// One search compiles a second plan if the first does not fit, and no further plans once its plans
// have more than kMostItems items in all or, if a plan fits, more than kEnoughItems. If the model
// has few blocks, the second limit is kEnoughItemsOfFew, since compilation is fast then and
// estimates are rough.
constexpr std::size_t kMostItems = 20'000, kEnoughItems = 10'000, kEnoughItemsOfFew = 20'000;
// It goes on to kMostItemsIfFaster items with plans that are expected to take less than this share
// of the best plan's time, since estimates were then too short so far.
constexpr std::size_t kMostItemsIfFaster = 40'000;
constexpr double kFaster = 0.99;

// Searches multiply the device's budget by these shares, one after the other, until a plan fits.
// Most estimates are a little too low. Small shares lead to the plan that needs the fewest bytes.
constexpr double kShares[] = {0.999, 1.03, 0.9, 0.75, 0.5, 0};
constexpr int kSharesOfFew = 2;  // for few blocks this many are always tried

// Multiplies the device's budget by `share`. The budgets of other tiers shrink by 3 % at most and
// never grow, since estimates for these tiers are nearly exact.
Budgets with_share(Budgets budgets, double share) {
  for (Tier const tier : kTiersInOrder) {
    auto& bytes = budgets.*budget_of(tier);
    auto const of_tier = tier == Tier::device ? share : std::clamp(share, 0.97, 1.0);
    bytes = static_cast<std::int64_t>(of_tier * static_cast<double>(bytes));
  }
  return budgets;
}

}  // namespace

void BudgetSearch::run(OpenPlan const& open, Budgets const& budgets) {
  Asked const asked{open, budgets};
  auto const before_s = m_trials.best_s();
  try_fixed_shares(asked);
  if (m_trials.best_s() < before_s && !m_few_blocks) try_measured_share(asked);
}

void BudgetSearch::run_again(OpenPlan const& open, Budgets const& budgets) {
  Asked const asked{open, budgets};
  try_within(asked, known_to_fit(asked, m_trials.best()));
}

// Returns the budgets less what plans such as this one need beyond their estimates, or more what
// they do not need of these.
Budgets BudgetSearch::known_to_fit(Asked const& asked, Plan const& plan) const {
  return corrected(asked.budgets, m_trials.expected_off(plan));
}

// Estimates that count too many bytes leave room unused. If they did for the best plan, searches
// once more for plans that would use it.
void BudgetSearch::try_measured_share(Asked const& asked) {
  constexpr double least = 1.005, most = 1.1, nearly_full = 0.9;
  auto const exact = static_cast<double>(m_trials.peaks_of_best()[Tier::device]);
  auto const off = static_cast<double>(m_trials.expected_off(m_trials.best())[Tier::device]);
  auto const share = std::min(most, (exact - off) / exact);
  if (share > least && exact - off > nearly_full * static_cast<double>(asked.budgets.device_bytes))
    try_share(asked, share);
}

void BudgetSearch::try_fixed_shares(Asked const& asked) {
  int tried = 0;
  bool const was_found = m_trials.found();
  m_any_fits = true;
  for (double const share : kShares) {
    bool const of_few = m_few_blocks && tried < kSharesOfFew;
    bool const is_first = was_found && tried == 0;
    if (m_trials.found() && !of_few && !is_first) return;
    // If no plan fits a larger share of the budget, none fits a smaller one. The share 0 is tried
    // even then, because it leads to the plan that needs the fewest bytes.
    bool const in_vain = tried >= kSharesOfFew && !m_any_fits && share > 0;
    if (!in_vain) try_share(asked, share);
    ++tried;
  }
}

void BudgetSearch::try_share(Asked const& asked, double share) {
  try_within(asked, with_share(asked.budgets, share));
}

// Searches, and again if that was misled: with what is known then of estimates of time and bytes
// it may find something else.
void BudgetSearch::try_within(Asked const& asked, Budgets budgets) {
  constexpr int most_searches = 3;
  for (int i = 0; i < most_searches; ++i) {
    auto const best = try_once(asked, budgets);
    if (!best || !was_misled_by(*best)) return;
    budgets = known_to_fit({asked.open, budgets}, best->plan);
  }
}

// Says whether all plans that were compiled take longer than the best candidate was expected to.
bool BudgetSearch::was_misled_by(Candidate const& best) const {
  constexpr double longer = 1.02;
  return m_trials.found() && m_trials.best_s() > longer * best.expected_s();
}

// Searches within the budgets, and tries what is found. Returns what was expected to be best.
std::optional<Candidate> BudgetSearch::try_once(Asked const& asked, Budgets const& within) {
  auto found = search(m_estimator, asked.open, within, m_trials.errors(), m_trials.hope_s());
  m_estimated += found.estimated;
  m_any_fits = !found.fitting.empty();
  m_items_before = m_trials.items();
  m_compiled_before = m_trials.compiled();
  m_misses = 0;
  std::optional<Candidate> best;
  if (m_any_fits) best = found.fitting.front();
  // If errors of earlier estimates suggest that a candidate does not fit, smaller candidates are
  // tried first, and the candidate itself is compiled last.
  try_best(asked, std::move(found.fitting), true);
  try_best(asked, std::exchange(m_unlikely, {}), false);
  try_leanest(std::move(found.leanest));
  return best;
}

// Tries candidates that do not fit by estimate until one does. Estimates are a little too high or
// too low, so it may be another than the first.
void BudgetSearch::try_leanest(std::vector<Candidate> leanest) {
  bool is_enough = false;
  for (Candidate& candidate : leanest) {
    if (m_trials.found() || is_enough) return;
    if (m_trials.was_compiled(candidate.plan)) continue;
    take_time(candidate, m_estimator);
    m_trials.try_out(candidate);
    is_enough = m_trials.items() - m_items_before > kMostItems;
  }
}

// Tries candidates, the best one first, and replaces one that does not fit by smaller ones.
void BudgetSearch::try_best(Asked const& asked, std::vector<Candidate> todo, bool only_likely) {
  while (!todo.empty()) {
    auto const best = std::ranges::min_element(
        todo, {}, [&](Candidate const& it) { return rank(it, m_trials.expected_s(it)); });
    if (!may_go_on(m_trials.expected_s(*best))) break;
    auto const candidate = std::move(*best);
    todo.erase(best);
    if (m_trials.is_hopeless(candidate)) break;
    bool const waits = std::ranges::count(m_unlikely, candidate.plan, &Candidate::plan) > 0;
    if (waits || m_trials.is_done(candidate)) continue;
    std::ranges::move(try_out(asked, candidate, only_likely), std::back_inserter(todo));
  }
}

// Tries the candidate, and returns other candidates that should be tried next.
std::vector<Candidate> BudgetSearch::try_out(Asked const& asked, Candidate const& candidate,
                                             bool only_likely) {
  Trials::Result result{m_trials.expected_off(candidate.plan)};
  if (only_likely && !fits(candidate.peaks + result.off, asked.budgets)) {
    m_unlikely.push_back(candidate);
  } else {
    result = m_trials.try_out(candidate);
    m_misses += result.fits ? 0 : 1;
  }
  if (result.fits && !(result.leads && may_go_on(m_trials.best_s()))) return {};
  StrategySpace const space(m_estimator, asked.open,
                            corrected(asked.budgets, result.fits ? TierBytes{} : result.off));
  return result.fits ? neighbours(candidate, space) : smaller(candidate, space);
}

// Says whether another plan may be compiled, which is expected to take so long.
bool BudgetSearch::may_go_on(double expected_s) const {
  if (m_misses == m_trials.compiled() - m_compiled_before && m_misses < 2) return true;
  auto enough = m_few_blocks ? kEnoughItemsOfFew : kEnoughItems;
  if (expected_s < kFaster * m_trials.best_s()) enough = std::max(enough, kMostItemsIfFaster);
  return m_trials.items() - m_items_before <= (m_trials.found() ? enough : kMostItems);
}

}  // namespace spillway
