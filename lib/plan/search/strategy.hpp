// A strategy says in a few numbers how a Plan gets by with little memory. The search varies it.
#pragma once

#include <vector>

#include "plan/search/activation_mix.hpp"
#include "plan/search/state_moves.hpp"

namespace spillway {

struct Strategy {
  ActivationMix mix;
  std::vector<BlockPlan> own = {};  // per open layer, instead of the mix; empty: the mix holds
  StateMoves moves = {};
  int prefetch = kShortestPrefetch;
  std::int64_t host_bytes = 0;  // moves may take so much of the host tier
};

// All strategies for what is open of a Plan.
class StrategySpace {
 public:
  // `estimator` and `open` outlive it.
  StrategySpace(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets);
  StrategySpace(StrategySpace const&) = delete;
  StrategySpace& operator=(StrategySpace const&) = delete;

  Estimator const& estimator() const { return m_estimator; }
  OpenPlan const& open() const { return m_open; }
  Budgets const& budgets() const { return m_budgets; }
  StateMover const& mover() const { return m_mover; }
  int layers() const { return static_cast<int>(m_layers.size()); }  // that are open

  Plan plan_of(Strategy const& strategy) const;
  TierBytes peaks(Strategy const& strategy) const { return m_estimator.peaks(plan_of(strategy)); }
  // Sets how much of the host the strategy's moves may take.
  void find_room(Strategy& strategy) const;
  // Returns strategies that differ in one thing: how one layer is treated, where layers are few;
  // the number, end or kind of treated layers; a move, its end, or where updates run; prefetch.
  std::vector<Strategy> neighbours(Strategy const& strategy) const;
  // Returns how few moves suffice for the device, or the number of all if even they do not.
  int fewest_moves(Strategy strategy, int guess) const;

 private:
  void add_other_moves(Strategy const& strategy, std::vector<Strategy>& to) const;
  void add_other_layers(Strategy const& strategy, std::vector<Strategy>& to) const;

  Estimator const& m_estimator;
  OpenPlan const& m_open;
  Budgets m_budgets;
  StateMover m_mover;
  IdVector<int> m_layers;  // blocks
};

}  // namespace spillway
