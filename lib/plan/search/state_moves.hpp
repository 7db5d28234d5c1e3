// The state of some chunks leaves the device. Optimizer state moves first; parameters move only
// after all optimizer state has moved.
#pragma once

#include "plan/data/budgets.hpp"
#include "plan/data/open_plan.hpp"
#include "plan/search/estimate.hpp"

namespace spillway {

struct StateMoves {
  bool from_back = true, parameters_from_back = true;  // if false, chunks move from the front
  bool drive_only = false;  // if false, state moves to the host tier first, while it has room
  int count = 0;            // how many moves: first of optimizer state, then of parameters
  // If false, the host lane updates the chunks whose optimizer state has moved.
  bool device_updates = false;

  bool operator==(StateMoves const&) const = default;
};

class StateMover {
 public:
  // The arguments must outlive this object.
  StateMover(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets);

  int optimizers() const { return static_cast<int>(m_optimizer.size()); }
  int most() const { return optimizers() + static_cast<int>(m_parameters.size()); }

  // Returns how many bytes of the host tier remain beside activations and gradients.
  std::int64_t room_on_host(Plan plan, StateMoves const& moves) const;

  // Sets all open choices about the Plan's chunks. State may take `host_bytes` of the host tier.
  void apply(StateMoves const& moves, std::int64_t host_bytes, Plan& plan) const;

  // Guesses the number of moves that frees this many more bytes of the device than `moves`, or this
  // many fewer if `device_bytes` is negative.
  int moves_for(std::int64_t device_bytes, StateMoves const& moves) const;

 private:
  struct Move {
    int chunk;
    Tier ChunkPlan::*place;
    std::int64_t bytes;
  };
  Move move(int number, StateMoves const& moves) const;
  void settle(Plan& plan, bool device_updates) const;

  Estimator const& m_estimator;
  OpenPlan const& m_open;
  Budgets const& m_budgets;
  IdVector<int> m_optimizer, m_parameters;  // chunks whose tier is an open choice
};

}  // namespace spillway
