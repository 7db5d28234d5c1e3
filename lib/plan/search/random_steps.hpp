// Random changes of plans. Other than NearPlans, which lists small changes, these may also change
// several layers or chunks alike, or exchange what two of them do.
#pragma once

#include <array>
#include <random>
#include <vector>

#include "plan/search/solve.hpp"

namespace spillway {

class RandomSteps {
 public:
  // Both arguments must outlive this object. The same calls return the same plans.
  RandomSteps(PlanQuestion const& question, OpenPlan const& open);

  // Returns a plan that decides what is open as `plan` does but for one thing, or the same plan. It
  // need not fit. The reference is valid until the next call.
  Plan const& from(Plan const& plan);

 private:
  void change_layers();
  void change_chunks();
  void change_places(ChunkPlan& places);
  void change_walk();
  void set(int chunk, ChunkPlan const& places);
  bool may_hold(Tier tier) const { return has_tier(m_question.budgets, tier); }
  bool may_share_out(Shard shard) const { return shard != Shard::all || m_question.may_gather(); }
  int below(std::size_t count) { return static_cast<int>(m_random() % count); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <class All>
  auto const& any_of(All const& all) {
    return all[static_cast<std::size_t>(below(all.size()))];
  }

  PlanQuestion const& m_question;
  OpenPlan const& m_open;
  std::vector<BlockPlan> m_ways;
  std::vector<int> m_layers;  // lists the blocks whose policy is open
  std::mt19937_64 m_random{1};
  Plan m_plan;  // the plan that is being changed
};

}  // namespace spillway
