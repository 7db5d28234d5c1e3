#include "plan/search/off_drive.hpp"

#include <array>
#include <utility>

#include "plan/search/near_plans.hpp"

namespace spillway {
namespace {

class OffDrive {
 public:
  OffDrive(PlanQuestion const& question, OpenPlan const& open, Estimator const& estimator,
           Trials& trials)
      : m_question(question), m_open(open), m_estimator(estimator), m_trials(trials) {}

  int run() {
    constexpr std::array<std::pair<Tier ChunkPlan::*, bool OpenChunk::*>, 3> kinds = {
        {{&ChunkPlan::gradients, &OpenChunk::gradients},
         {&ChunkPlan::optimizer, &OpenChunk::optimizer},
         {&ChunkPlan::parameters, &OpenChunk::parameters}}};
    begin();
    for (int b = 0; b < std::ssize(m_plan.blocks); ++b)
      if (m_open.layers[b] && away_tier(m_plan.blocks[b].policy) == Tier::nvme) move_block(b);
    try_out();
    for (auto const& [place, is_open] : kinds) {
      begin();
      for (int c = 0; c < std::ssize(m_plan.chunks); ++c)
        if (m_open.chunks[c].*is_open && m_plan.chunks[c].*place == Tier::nvme) move(c, place);
      try_out();
    }
    return m_estimated;
  }

 private:
  void begin() {
    m_plan = m_trials.best();
    m_budgets = corrected(m_question.budgets, m_trials.expected_off(m_plan));
  }

  void move_block(int block) {
    auto next = m_plan;
    auto& policy = next.blocks[block].policy;
    policy = spilling_to(Tier::host, policy);
    take_if_it_fits(std::move(next));
  }

  void move(int chunk, Tier ChunkPlan::*place) {
    auto next = m_plan;
    next.chunks[chunk].*place = Tier::host;
    take_if_it_fits(std::move(next));
  }

  void take_if_it_fits(Plan next) {
    settle(m_question.train, m_open, next);
    ++m_estimated;
    if (fits(m_estimator.peaks(next), m_budgets)) m_plan = std::move(next);
  }

  void try_out() {
    if (m_trials.was_compiled(m_plan)) return;
    Candidate candidate{.plan = m_plan, .strategy = {}};
    candidate.peaks = m_estimator.peaks(m_plan);
    take_time(candidate, m_estimator);
    m_trials.try_out(candidate);
  }

  PlanQuestion const& m_question;
  OpenPlan const& m_open;
  Estimator const& m_estimator;
  Trials& m_trials;
  Plan m_plan;  // the best one, with less on the drive
  Budgets m_budgets;
  int m_estimated = 0;
};

}  // namespace

int try_off_drive(PlanQuestion const& question, OpenPlan const& open, Estimator const& estimator,
                  Trials& trials) {
  if (!trials.found() || !has_tier(question.budgets, Tier::host)) return 0;
  return OffDrive(question, open, estimator, trials).run();
}

}  // namespace spillway
