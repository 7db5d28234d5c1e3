#include "plan/search/candidate.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace spillway {

namespace {

// Adds the strategy's candidate to `all` if it fits and is new, and returns whether it was added.
bool add(Strategy const& strategy, StrategySpace const& space, std::vector<Candidate>& all) {
  auto next = make_candidate(strategy, space);
  bool const is_known = std::ranges::count(all, next.plan, &Candidate::plan) > 0;
  if (is_known || !fits(next.peaks, space.budgets())) return false;
  take_time(next, space.estimator());
  if (wears_too_fast(next, space.estimator(), space.budgets())) return false;
  all.push_back(std::move(next));
  return true;
}

// Returns candidates that fit and differ from `candidate`.
std::vector<Candidate> fitting(std::vector<Strategy> const& strategies, Candidate const& candidate,
                               StrategySpace const& space) {
  std::vector<Candidate> all = {candidate};
  for (Strategy const& strategy : strategies) add(strategy, space, all);
  return {all.begin() + 1, all.end()};
}

}  // namespace

// Candidates whose times are in the same class count as equally fast, and the one that moves fewer
// bytes is better. Fixed classes make this a strict order.
Rank rank(Candidate const& candidate, double step_s) {
  auto const time = std::floor(std::log(std::max(step_s, 1e-12)) / kAlike);
  return {time, candidate.moved_bytes, step_s};
}

bool better(Candidate const& a, Candidate const& b) {
  return rank(a, a.expected_s()) < rank(b, b.expected_s());
}

Kind kind_of(Candidate const& candidate) {
  auto const& [plan, strategy] = std::tie(candidate.plan, candidate.strategy);
  Kind kind{strategy.mix.kind, strategy.moves.sums, strategy.moves.device_updates, plan.group};
  for (ChunkPlan const& chunk : plan.chunks) kind.shard = std::max(kind.shard, chunk.shard);
  return kind;
}

void KindErrors::add(Kind const& kind, double slower) {
  auto at = std::ranges::find(m_sums, kind, &Sum::kind);
  if (at == m_sums.end()) at = m_sums.insert(at, Sum{kind});
  at->slower += slower;
  ++at->count;
}

double KindErrors::slower(Kind const& kind) const {
  auto const at = std::ranges::find(m_sums, kind, &Sum::kind);
  return at == m_sums.end() ? 1 : std::max(1.0, at->slower / at->count);
}

Candidate make_candidate(Strategy const& strategy, StrategySpace const& space) {
  Candidate result{space.plan_of(strategy), strategy};
  result.peaks = space.estimator().peaks(result.plan);
  return result;
}

void take_time(Candidate& candidate, Estimator const& estimator) {
  candidate.step_s = estimator.step_s(candidate.plan);
  candidate.moved_bytes = between_tiers(estimator.sums(candidate.plan).moved_bytes);
  candidate.timed = true;
}

bool wears_too_fast(Candidate const& candidate, Estimator const& estimator,
                    Budgets const& budgets) {
  auto const most = budgets.nvme_bytes_per_s;
  if (std::isinf(most)) return false;
  auto const moved = estimator.sums(candidate.plan).moved_bytes;
  auto const bytes = static_cast<double>(moved[Lane::nvme_write]);
  return bytes > most * candidate.step_s && bytes > most * estimator.step_s(candidate.plan);
}

bool fits(TierBytes const& peaks, Budgets const& budgets) {
  return all_missing_bytes(peaks, budgets) == 0;
}

bool rest_fits(TierBytes const& peaks, Budgets const& budgets) {
  return peaks[Tier::host] <= budgets.host_bytes && peaks[Tier::nvme] <= budgets.nvme_bytes;
}

// A budget of 0 means that there is no such tier. No budget of host or NVMe changes to or from 0.
Budgets corrected(Budgets budgets, TierBytes const& off) {
  budgets.device_bytes -= off[Tier::device];
  for (Tier const tier : {Tier::host, Tier::nvme}) {
    auto& bytes = budgets.*budget_of(tier);
    if (bytes > 0) bytes = std::max<std::int64_t>(1, bytes - off[tier]);
  }
  return budgets;
}

std::vector<Candidate> smaller(Candidate const& candidate, StrategySpace const& space) {
  std::vector<Candidate> all = {candidate};
  auto more = candidate.strategy;
  more.moves.count = space.fewest_moves(more, more.moves.count + 1);
  space.find_room(more);
  add(more, space, all);
  more = candidate.strategy;
  more.own.clear();
  while (more.mix.kind > 0 && ++more.mix.layers <= space.layers()) {
    space.find_room(more);
    if (add(more, space, all)) break;
  }
  return {all.begin() + 1, all.end()};
}

std::vector<Candidate> neighbours(Candidate const& candidate, StrategySpace const& space) {
  return fitting(space.neighbours(candidate.strategy), candidate, space);
}

}  // namespace spillway
