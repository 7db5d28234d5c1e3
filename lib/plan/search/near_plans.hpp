// Plans that differ a little from another Plan. Unlike strategies, which say in a few numbers what
// all layers and chunks do, such plans may treat each of them in its own way.
#pragma once

#include <unordered_set>
#include <vector>

#include "plan/search/solve.hpp"

namespace spillway {

// A search brings tensors at most so many stations ahead.
inline constexpr int kLongestPrefetch = 8;

// Makes the plan keep to what all plans of a search do.
void settle(Graph const& graph, OpenPlan const& open, Plan& plan);

class NearPlans {
 public:
  // The question and the open plan must outlive this object.
  NearPlans(PlanQuestion const& question, OpenPlan const& open);

  // Returns plans that decide what is open as `plan` does but for one thing: how one layer's
  // activations are treated, or those of two exchanged; where a chunk's tensors lie and where it is
  // updated, or those of all chunks; what ranks share out of it; when tensors are brought and
  // updated, and how many micro-batches walk together. They need not fit.
  std::vector<Plan> around(Plan const& plan);

 private:
  void change_layers();
  void change_chunk(int chunk);
  void move_optimizer(int chunk, Tier tier);
  void change_all_chunks();
  void change_walk();
  bool may_hold(Tier tier) const { return has_tier(m_question.budgets, tier); }
  bool has_other_memory() const { return !m_plan->unified && may_hold(Tier::host); }
  bool may_share_out(Shard shard) const { return shard != Shard::all || m_question.may_gather(); }
  void add(Plan plan);
  template <class Change>
  void add_all(Change const& change);

  PlanQuestion const& m_question;
  OpenPlan const& m_open;
  std::vector<BlockPlan> m_ways;
  std::vector<int> m_layers;  // lists the blocks whose policy is open
  // `around` makes plans around this one, and m_seen has the hashes of all of them.
  Plan const* m_plan = nullptr;
  std::vector<Plan> m_result;
  std::unordered_set<std::uint64_t> m_seen;
};

}  // namespace spillway
