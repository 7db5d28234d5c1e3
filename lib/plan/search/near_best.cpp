#include "plan/search/near_best.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace spillway {
namespace {

// Goes on until plans with so many items in all were compiled, but no more than were compiled
// before, or around so many plans.
constexpr std::size_t kMostItemsNear = 400'000, kMostPlans = 48;
// Where blocks are many, it also ends when estimates have told steps of so many jobs, which takes
// about a second.
constexpr std::int64_t kMostToldNear = 3'000'000;
// Tries so many near one plan, or as many as have so many items.
constexpr std::size_t kMostTried = 12, kMostItemsNearOne = 20'000;
// Leaves out what is estimated to be slower by this factor than what it is near, and plans that are
// slower by another one than the fastest.
constexpr double kNotMuchSlower = 1.02, kTooSlow = 1.1;
// A plan's turn comes later as if it were slower by so much for each plan of its family that had a
// turn, and by more for each that was as fast: else all turns would go to plans that differ little.
constexpr double kEachOfFamily = 0.005, kEachAsFast = 0.01;
// Of plans with equal estimates so many are tried.
constexpr std::ptrdiff_t kMostAlike = 2;
// Of plans that would be faster but need too many bytes, so many are changed once more.
constexpr std::size_t kMostLacking = 6;

// Returns the value of `place` that most chunks have.
template <class T>
std::uint64_t usual(Plan const& plan, T ChunkPlan::*place) {
  std::array<int, 4> counts{};
  for (ChunkPlan const& chunk : plan.chunks) ++counts[static_cast<std::size_t>(chunk.*place)];
  return static_cast<std::uint64_t>(std::ranges::max_element(counts) - counts.begin());
}

// Returns a number that is equal for plans that do the same with most chunks.
std::uint64_t family_of(Plan const& plan) {
  auto number = static_cast<std::uint64_t>(plan.group);
  for (auto const place : {usual(plan, &ChunkPlan::parameters), usual(plan, &ChunkPlan::gradients),
                           usual(plan, &ChunkPlan::optimizer), usual(plan, &ChunkPlan::update),
                           usual(plan, &ChunkPlan::shard)})
    number = 4 * number + place;
  return number;
}

}  // namespace

void NearBest::run(OpenPlan const& open, int most_estimated) {
  NearPlans plans(m_question, open);
  auto const before = m_trials.all_items(), most_items = std::min(before, kMostItemsNear);
  std::set<std::uint64_t> done;
  std::map<std::uint64_t, int> turns;
  std::map<double, int> as_fast;
  auto const rank_of = [&](Trials::Timed const& it) {
    auto const& plan = it.candidate.plan;
    if (done.contains(hash_of(plan)) || it.step_s > kTooSlow * m_trials.best_s())
      return std::numeric_limits<double>::infinity();
    return it.step_s *
           (1 + kEachOfFamily * turns[family_of(plan)] + kEachAsFast * as_fast[it.step_s]);
  };
  auto const told_before = m_estimator.told_jobs();
  auto const takes_long = [&] {
    return !has_few_blocks(m_question) && m_estimator.told_jobs() - told_before > kMostToldNear;
  };
  for (std::size_t i = 0; i < kMostPlans && m_estimated < most_estimated && !takes_long(); ++i) {
    auto const at = std::ranges::min_element(m_trials.fitting(), {}, rank_of);
    if (at == m_trials.fitting().end() || std::isinf(rank_of(*at))) return;
    auto const from = *at;
    done.insert(hash_of(from.candidate.plan));
    ++turns[family_of(from.candidate.plan)];
    ++as_fast[from.step_s];
    auto const before_these = m_trials.all_items();
    for (Candidate const& candidate : near(plans, from)) {
      if (m_trials.all_items() - before > most_items) return;
      if (m_trials.all_items() - before_these > kMostItemsNearOne) break;
      if (m_trials.estimated_alike(candidate.step_s) < kMostAlike) m_trials.try_out(candidate);
    }
  }
}

// Adds the plan if it fits and may be fast enough.
void NearBest::add(Plan const& plan, Trials::Timed const& at, Budgets const& budgets,
                   std::vector<Candidate>& to) {
  Candidate near{.plan = plan, .strategy = at.candidate.strategy};
  near.peaks = m_estimator.peaks(plan);
  ++m_estimated;
  auto const longest_s = kNotMuchSlower * at.candidate.step_s;
  if (!fits(near.peaks, budgets) || m_estimator.sums(plan).bound_s() > longest_s) return;
  if (m_trials.was_compiled(plan)) return;
  take_time(near, m_estimator);
  if (near.step_s > longest_s || wears_too_fast(near, m_estimator, budgets)) return;
  to.push_back(std::move(near));
}

// Returns what is near a plan and may be as fast. Also changes what is faster but does not fit once
// more, so that it does.
std::vector<Candidate> NearBest::near(NearPlans& plans, Trials::Timed const& at) {
  auto const budgets = corrected(m_question.budgets, m_trials.expected_off(at.candidate.plan));
  std::vector<Candidate> result;
  std::vector<std::pair<double, Plan>> lacking;
  for (Plan const& plan : plans.around(at.candidate.plan)) {
    if (fits(m_estimator.peaks(plan), budgets)) {
      add(plan, at, budgets, result);
    } else if (m_estimator.sums(plan).bound_s() < at.candidate.step_s) {
      auto const step_s = m_estimator.step_s(plan);
      if (step_s < at.candidate.step_s) lacking.emplace_back(step_s, plan);
    }
  }
  auto const by_time = [](auto const& a, auto const& b) { return a.first < b.first; };
  std::ranges::stable_sort(lacking, by_time);
  lacking.resize(std::min(lacking.size(), kMostLacking));
  for (auto const& [step_s, plan] : lacking)
    for (Plan const& other : plans.around(plan)) add(other, at, budgets, result);
  std::ranges::stable_sort(result, {}, &Candidate::step_s);
  auto const is_same = [](Candidate const& a, Candidate const& b) { return a.plan == b.plan; };
  auto const [rest, end] = std::ranges::unique(result, is_same);
  result.erase(rest, end);
  result.resize(std::min(result.size(), kMostTried));
  return result;
}

}  // namespace spillway
