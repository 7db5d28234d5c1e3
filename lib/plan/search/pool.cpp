#include "plan/search/pool.hpp"

#include <cmath>
#include <tuple>
#include <utility>

namespace spillway {
namespace {

// At most kKept candidates are kept, and at most kOfSameActivations that treat activations alike.
constexpr std::size_t kKept = 64;
constexpr std::ptrdiff_t kOfSameActivations = 4;

// Says whether two plans differ at most in a prefetch of nothing.
bool are_the_same(Candidate const& a, Candidate const& b) {
  auto plan = a.plan;
  if (!brings_anything_ahead(plan)) plan.prefetch = b.plan.prefetch;
  return plan == b.plan;
}

}  // namespace

CandidateFamily family_of(Candidate const& found) {
  auto const& [mix, moves] = std::tie(found.strategy.mix, found.strategy.moves);
  return {mix.kind, moves.parameters_first, moves.sums};
}

TierBytes CandidatePool::try_strategy(Strategy const& strategy) {
  auto tried = make_candidate(strategy, m_space);
  auto const peaks = tried.peaks;
  ++m_result.estimated;
  bool const fits = spillway::fits(peaks, budgets());
  bool const limited = !std::isinf(budgets().nvme_bytes_per_s);
  if (fits || (limited && rest_fits(peaks, budgets())))
    tried.step_s = m_space.estimator().sums(tried.plan).bound_s();
  tried.wears_too_fast = wears_too_fast(tried, m_space.estimator(), budgets());
  note_leanest(tried);
  auto const is_same = [&](Candidate const& other) {
    return other.peaks == peaks && other.plan == tried.plan;
  };
  if (fits && !tried.wears_too_fast && std::ranges::none_of(found(), is_same))
    found().push_back(std::move(tried));
  return peaks;
}

bool CandidatePool::try_and_time(Strategy const& strategy) {
  auto const before = found().size();
  auto const peaks = try_strategy(strategy);
  if (found().size() > before) time(found().back());
  return fits(peaks, budgets());
}

void CandidatePool::time(Candidate& found) {
  if (found.timed || takes_too_long(found.step_s)) return;
  take_time(found, m_space.estimator());
  found.slower = m_errors.slower(kind_of(found));
  m_best_s = std::min(m_best_s, found.expected_s());
}

bool CandidatePool::is_hopeless(Strategy const& strategy) const {
  if (std::isinf(m_best_s)) return false;
  return takes_too_long(m_space.estimator().passes(m_space.plan_of(strategy)).bound_s());
}

void CandidatePool::move_until_it_fits(Strategy& strategy) const {
  if (m_space.most_moves() == 0) return;
  int const guess = std::exchange(strategy.moves.count, m_space.most_moves());
  m_space.find_room(strategy);
  strategy.moves.count = m_space.fewest_moves(strategy, guess);
}

void CandidatePool::note_leanest(Candidate const& candidate) {
  constexpr std::size_t kept = 6;
  auto const rank = [&](Candidate const& c) {
    return std::tuple(c.wears_too_fast, all_missing_bytes(c.peaks, budgets()),
                      c.peaks[Tier::device], c.peaks[Tier::nvme]);
  };
  auto& leanest = m_result.leanest;
  if (leanest.size() == kept && !(rank(candidate) < rank(leanest.back()))) return;
  if (std::ranges::count(leanest, candidate.plan, &Candidate::plan) > 0) return;
  leanest.insert(std::ranges::upper_bound(leanest, rank(candidate), {}, rank), candidate);
  if (leanest.size() > kept) leanest.pop_back();
}

void CandidatePool::keep_best() {
  std::erase_if(found(), [](Candidate const& it) { return !it.timed; });
  sort();
  auto const [rest, end] = std::ranges::unique(found(), are_the_same);
  found().erase(rest, end);
  auto const activations_of = [](Candidate const& it) -> auto const& {
    return it.plan.blocks;
  };
  found() = best_found(kKept, kOfSameActivations, activations_of);
}

}  // namespace spillway
