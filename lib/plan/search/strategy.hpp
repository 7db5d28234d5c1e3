// A strategy says in a few numbers how a Plan uses little memory. The search varies these numbers.
#pragma once

#include <vector>

#include "plan/search/activation_mix.hpp"
#include "plan/search/state_moves.hpp"

namespace spillway {

struct Strategy {
  ActivationMix mix;
  std::vector<BlockPlan> own = {};  // how to treat each open layer; if empty, the mix decides
  StateMoves moves = {};
  int prefetch = kShortestPrefetch;
  std::int64_t host_bytes = 0;  // the most that moves may take of the host tier
};

// A StrategySpace contains all strategies for the open choices of a Plan.
class StrategySpace {
 public:
  // The estimator and the open plan must outlive this object.
  StrategySpace(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets);
  StrategySpace(StrategySpace const&) = delete;
  StrategySpace& operator=(StrategySpace const&) = delete;

  Estimator const& estimator() const { return m_estimator; }
  OpenPlan const& open() const { return m_open; }
  Budgets const& budgets() const { return m_budgets; }
  StateMover const& mover() const { return m_mover; }
  int layers() const {
    return static_cast<int>(m_layers.size());
  }  // the number of layers whose policy is left to the search

  Plan plan_of(Strategy const& strategy) const;
  TierBytes peaks(Strategy const& strategy) const { return m_estimator.peaks(plan_of(strategy)); }
  // Sets how many bytes of the host tier the strategy's moves may take.
  void find_room(Strategy& strategy) const;
  // Returns strategies that differ in one thing: how one layer is treated (if layers are few),
  // which or how many layers are treated, one move, the end at which moves begin, where updates
  // run, or prefetch.
  std::vector<Strategy> neighbours(Strategy const& strategy) const;
  // Returns the fewest moves with which the device suffices, or the number of all if none does.
  int fewest_moves(Strategy strategy, int guess) const;

 private:
  void add_other_moves(Strategy const& strategy, std::vector<Strategy>& to) const;
  void add_other_layers(Strategy const& strategy, std::vector<Strategy>& to) const;

  Estimator const& m_estimator;
  OpenPlan const& m_open;
  Budgets m_budgets;
  StateMover m_mover;
  IdVector<int> m_layers;  // the block numbers of the open layers
};

}  // namespace spillway
