#include "plan/next_to.hpp"

#include <utility>

namespace spillway {

namespace {

// What is left by estimates that are off as much.
Budgets corrected(Budgets budgets, TierBytes const& estimated, TierBytes const& exact) {
  auto const off = [&](Tier tier) { return exact[index(tier)] - estimated[index(tier)]; };
  budgets.device_bytes -= off(Tier::device);
  if (budgets.host_bytes > 0) budgets.host_bytes -= off(Tier::host);
  if (budgets.nvme_bytes > 0) budgets.nvme_bytes -= off(Tier::nvme);
  return budgets;
}

}  // namespace

NextTo::NextTo(Candidate const& candidate, TierBytes const& exact, Estimator const& estimator,
               OpenPlan const& open, Budgets const& budgets)
    : m_candidate(candidate),
      m_estimator(estimator),
      m_budgets(corrected(budgets, candidate.peaks, exact)),
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

// False: it does not fit.
bool NextTo::add(Choice const& choice) {
  auto next = estimated(choice, m_maker, m_estimator);
  if (!fits(next.peaks, m_budgets)) return false;
  take_time(next, m_estimator);
  if (wears_too_fast(next, m_estimator, m_budgets)) return false;
  m_result.push_back(std::move(next));
  return true;
}

}  // namespace spillway
