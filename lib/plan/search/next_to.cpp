#include "plan/search/next_to.hpp"

#include <algorithm>
#include <utility>

namespace spillway {

namespace {

// What estimates may say where they are off by so much. No budget means no tier: none is lost.
Budgets corrected(Budgets budgets, TierBytes const& off) {
  budgets.device_bytes -= off[Tier::device];
  for (Tier const tier : {Tier::host, Tier::nvme}) {
    auto& bytes = budgets.*budget_of(tier);
    if (bytes > 0) bytes = std::max<std::int64_t>(1, bytes - off[tier]);
  }
  return budgets;
}

}  // namespace

NextTo::NextTo(Candidate const& candidate, TierBytes const& off, Estimator const& estimator,
               OpenPlan const& open, Budgets const& budgets)
    : m_candidate(candidate),
      m_estimator(estimator),
      m_budgets(corrected(budgets, off)),
      m_maker(estimator, open, m_budgets) {}

std::vector<Candidate> NextTo::smaller() {
  auto more = m_candidate.choice;
  more.moves.count = m_maker.fewest_moves(more, more.moves.count + 1);
  m_maker.find_room(more);
  add(more);
  more = m_candidate.choice;
  more.own.clear();
  while (more.mix.kind > 0 && ++more.mix.layers <= m_maker.layers()) {
    m_maker.find_room(more);
    if (add(more)) break;
  }
  return std::move(m_result);
}

std::vector<Candidate> NextTo::alike() {
  for (Choice const& choice : m_maker.neighbours(m_candidate.choice)) add(choice);
  return std::move(m_result);
}

// False: it does not fit, or is there.
bool NextTo::add(Choice const& choice) {
  auto next = estimated(choice, m_maker, m_estimator);
  bool const is_known = next.plan == m_candidate.plan ||
                        std::ranges::count(m_result, next.plan, &Candidate::plan) > 0;
  if (is_known || !fits(next.peaks, m_budgets)) return false;
  take_time(next, m_estimator);
  if (wears_too_fast(next, m_estimator, m_budgets)) return false;
  m_result.push_back(std::move(next));
  return true;
}

}  // namespace spillway
