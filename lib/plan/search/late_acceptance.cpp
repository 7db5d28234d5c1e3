#include "plan/search/late_acceptance.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "plan/search/near_plans.hpp"

namespace spillway {
namespace {

// A walk takes so many steps, each of which may cost what the plan so many steps before it did.
constexpr int kSteps = 1500, kLate = 100;
// Steps of many blocks, or of many micro-batches that walk together, take long to estimate. So a
// walk ends earlier when its estimates have told steps of so many jobs, and no other one begins
// when all walks have; a core tells about three million in a second.
constexpr std::int64_t kMostToldOfWalk = 1'200'000, kMostTold = 12'000'000;
// What one round of walks finds depends on luck, so that there is another one, up to so many, until
// one makes the best plan faster by less than this share.
constexpr int kMostRounds = 4;
constexpr double kLittle = 0.002;
// Of what a walk finds, so many plans are tried at most, fewer where blocks are many, and no more
// than so many that treat activations alike. None is tried when all have so many items.
constexpr int kTriedOfWalk = 24, kTriedOfManyBlocks = 8, kAlikeOfWalk = 6;
constexpr std::size_t kMostItemsOfWalks = 1'500'000;
// Where blocks are many, a walk ends early if after so many steps it is at a plan that costs more
// than the best one times a factor, and no plans are tried that are estimated to be slower than the
// best one by another factor: estimates are better there, and all takes longer.
constexpr int kEarly = 500;
constexpr double kFarFromBest = 1.05, kTooSlowToTry = 1.02;
// A walk remembers so many of the fastest plans.
constexpr std::size_t kRemembered = 256;
// Bytes that plans need beyond their estimates are those of the most similar one of so many.
constexpr std::size_t kLastTried = 128;

// Returns the plan with what `decided` leaves less open than `open` does.
Plan with_decided(Plan plan, OpenPlan const& open, OpenPlan const& decided) {
  auto const& from = decided.plan;
  for (int b = 0; b < std::ssize(open.layers); ++b)
    if (open.layers[b] && !decided.layers[b]) plan.blocks[b] = from.blocks[b];
  for (int c = 0; c < std::ssize(open.chunks); ++c) {
    auto const decide = [&](auto ChunkPlan::*place, bool OpenChunk::*is_open) {
      bool const is_decided = open.chunks[c].*is_open && !(decided.chunks[c].*is_open);
      if (is_decided) plan.chunks[c].*place = from.chunks[c].*place;
    };
    decide(&ChunkPlan::parameters, &OpenChunk::parameters);
    decide(&ChunkPlan::gradients, &OpenChunk::gradients);
    decide(&ChunkPlan::optimizer, &OpenChunk::optimizer);
    decide(&ChunkPlan::update, &OpenChunk::update);
    decide(&ChunkPlan::shard, &OpenChunk::shard);
  }
  if (open.group && !decided.group) plan.group = from.group;
  if (open.prefetch && !decided.prefetch) plan.prefetch = from.prefetch;
  return plan;
}

}  // namespace

void LateAcceptance::run(std::vector<OpenPlan> const& decided) {
  m_told_before = m_estimator.told_jobs();
  m_items_before = m_trials.all_items();
  for (int round = 0; round < kMostRounds; ++round) {
    auto const before_s = m_trials.best_s();
    run_once(decided);
    if (m_trials.best_s() > (1 - kLittle) * before_s) return;
  }
}

void LateAcceptance::run_once(std::vector<OpenPlan> const& decided) {
  walk_from(m_trials.best());
  for (OpenPlan const& other : decided) {
    auto start = with_decided(m_trials.best(), m_open, other);
    settle(m_question.train, m_open, start);
    if (start != m_trials.best()) walk_from(std::move(start));
  }
}

void LateAcceptance::walk_from(Plan plan) {
  auto const told_before = m_estimator.told_jobs();
  if (told_before - m_told_before > kMostTold) return;
  constexpr int often = 50;  // so many steps later the price of bytes changes
  auto const best_s = m_estimator.step_s(m_trials.best());
  auto now = cost(plan, std::numeric_limits<double>::infinity());
  constexpr double worse = 1.02;
  std::array<double, kLate> before;
  before.fill(worse * now.cost);
  std::map<double, Plan> found;
  int lacking = 0;
  for (int i = 0; i < kSteps; ++i) {
    auto& late = before[static_cast<std::size_t>(i % kLate)];
    auto const most = std::max(late, now.cost);
    auto const& next = m_steps.from(plan);
    auto const then = cost(next, most);
    if (then.cost <= most) {
      if (then.fits) found.emplace(then.step_s, next);
      if (found.size() > kRemembered) found.erase(std::prev(found.end()));
      plan = next;
      now = then;
    }
    late = std::min(late, now.cost);
    lacking += now.fits ? 0 : 1;
    if (m_estimator.told_jobs() - told_before > kMostToldOfWalk) break;
    if (i == kEarly && !m_few_blocks && now.cost > kFarFromBest * best_s) break;
    if ((i + 1) % often != 0) continue;
    constexpr double least = 0.3, highest = 50, dearer = 1.3, cheaper = 0.8;
    m_price = std::clamp(m_price * (2 * lacking > often ? dearer : cheaper), least, highest);
    lacking = 0;
  }
  std::vector<Plan> best;
  for (auto& [step_s, one] : found)
    if (m_few_blocks || step_s <= kTooSlowToTry * best_s) best.push_back(std::move(one));
  try_out(best);
}

// A plan that does not fit costs more, so that walks cross such plans but come back.
LateAcceptance::Cost LateAcceptance::cost(Plan const& plan, double most) {
  ++m_estimated;
  auto const bound_s = m_estimator.sums(plan).bound_s();
  if (bound_s > most) return {bound_s, bound_s, false};
  auto const missing = missing_share(plan);
  auto const factor = 1 + m_price * missing;
  if (factor * bound_s > most) return {factor * bound_s, bound_s, false};
  auto const step_s = m_estimator.step_s(plan);
  return {factor * step_s, step_s, missing == 0};
}

double LateAcceptance::missing_share(Plan const& plan) const {
  auto const& budgets = m_question.budgets;
  auto const peaks = m_estimator.peaks(plan) + m_trials.expected_off(plan, kLastTried);
  auto const missing = missing_bytes(peaks, budgets);
  double share = 0;
  for (Tier const tier : kTiersInOrder)
    share += static_cast<double>(missing[tier]) /
             static_cast<double>(
                 std::max<std::int64_t>({1, budgets.*budget_of(tier), budgets.device_bytes}));
  return share;
}

// Returns the plan with the shortest prefetch that is estimated to be no slower, since prefetches
// take memory.
Plan LateAcceptance::without_vain_prefetch(Plan const& plan) const {
  if (!m_open.prefetch) return plan;
  auto const step_s = m_estimator.step_s(plan);
  auto shorter = plan;
  for (shorter.prefetch = kShortestPrefetch; shorter.prefetch < plan.prefetch;
       shorter.prefetch *= 2)
    if (m_estimator.step_s(shorter) <= step_s) return shorter;
  return plan;
}

void LateAcceptance::try_out(std::vector<Plan> const& found) {
  std::vector<Plan> tried;
  auto const most_tried = m_few_blocks ? kTriedOfWalk : kTriedOfManyBlocks;
  for (Plan const& as_found : found) {
    if (std::ssize(tried) == most_tried ||
        m_trials.all_items() - m_items_before > kMostItemsOfWalks)
      return;
    if (std::ranges::count(tried, as_found.blocks, &Plan::blocks) >= kAlikeOfWalk) continue;
    auto const plan = without_vain_prefetch(as_found);
    Candidate candidate{.plan = plan, .strategy = {}};
    candidate.peaks = m_estimator.peaks(plan);
    take_time(candidate, m_estimator);
    if (m_trials.estimated_alike(candidate.step_s) > 0) continue;
    if (wears_too_fast(candidate, m_estimator, m_question.budgets)) continue;
    tried.push_back(plan);
    m_trials.try_out(candidate);
  }
}

}  // namespace spillway
