// A strategy says in a few numbers how a Plan uses little memory. The search varies these numbers.
#pragma once

#include <vector>

#include "plan/search/activation_mix.hpp"
#include "plan/search/estimate.hpp"

namespace spillway {

// The state of some chunks leaves the device. Optimizer state moves first; parameters move only
// after all optimizer state has moved.
struct StateMoves {
  bool from_back = true, parameters_from_back = true;  // if false, chunks move from the front
  bool drive_only = false;  // if false, state moves to the host tier first, while it has room
  int count = 0;            // how many moves: first of optimizer state, then of parameters
  // If false, the host lane updates the chunks whose optimizer state has moved.
  bool device_updates = false;
};

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

  Estimator const& estimator() const { return m_estimator; }
  OpenPlan const& open() const { return m_open; }
  Budgets const& budgets() const { return m_budgets; }
  // Returns the number of layers whose policy is left to the search.
  int layers() const { return static_cast<int>(m_layers.size()); }
  // Return how many moves of optimizer state there are, and how many moves of any state.
  int optimizers() const { return static_cast<int>(m_optimizer.size()); }
  int most_moves() const { return optimizers() + static_cast<int>(m_parameters.size()); }

  Plan plan_of(Strategy const& strategy) const;
  TierBytes peaks(Strategy const& strategy) const { return m_estimator.peaks(plan_of(strategy)); }
  // Lets the strategy's moves take what activations and gradients leave of the host tier.
  void find_room(Strategy& strategy) const;
  // Guesses the number of moves that frees this many more bytes of the device than `moves`, or this
  // many fewer if `device_bytes` is negative.
  int moves_for(std::int64_t device_bytes, StateMoves const& moves) const;
  // Returns the fewest moves with which the device suffices, or the number of all if none does.
  int fewest_moves(Strategy strategy, int guess) const;
  // Returns strategies that differ in one thing: how one layer is treated (if layers are few),
  // which or how many layers are treated, one move, the end at which moves begin, where updates
  // run, or prefetch.
  std::vector<Strategy> neighbours(Strategy const& strategy) const;

 private:
  struct Move {
    int chunk;
    Tier ChunkPlan::*place;
    std::int64_t bytes;
  };
  Move move(int number, StateMoves const& moves) const;
  void settle(Plan& plan, bool device_updates) const;
  void add_other_moves(Strategy const& strategy, std::vector<Strategy>& to) const;
  void add_other_layers(Strategy const& strategy, std::vector<Strategy>& to) const;

  Estimator const& m_estimator;
  OpenPlan const& m_open;
  Budgets m_budgets;
  IdVector<int> m_layers;                   // the block numbers of the open layers
  IdVector<int> m_optimizer, m_parameters;  // chunks whose tier is an open choice
};

}  // namespace spillway
