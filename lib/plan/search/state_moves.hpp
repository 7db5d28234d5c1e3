// The state of some chunks leaves the device: first their optimizer state and, once all of that has
// left, their parameters.
#pragma once

#include "plan/data/budgets.hpp"
#include "plan/data/open_plan.hpp"
#include "plan/search/estimate.hpp"

namespace spillway {

struct StateMoves {
  bool from_back = true, parameters_from_back = true;  // else from the front
  bool drive_only = false;  // else the host tier first, for as long as it has room
  int count = 0;            // of chunks' optimizer state, then of chunks' parameters
  // The device updates all chunks; else the host lane updates those whose optimizer state is away.
  bool device_updates = false;

  bool operator==(StateMoves const&) const = default;
};

class StateMover {
 public:
  // All outlive it.
  StateMover(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets);

  int optimizers() const { return static_cast<int>(m_optimizer.size()); }
  int most() const { return optimizers() + static_cast<int>(m_parameters.size()); }

  // Returns the bytes that activations and gradients leave of the host tier.
  std::int64_t room_on_host(Plan plan, StateMoves const& moves) const;

  // Sets all that is open of the Plan's chunks. State may take `host_bytes` of the host tier.
  void apply(StateMoves const& moves, std::int64_t host_bytes, Plan& plan) const;

  // Guesses how many moves instead of these free so many more bytes of the device; if negative,
  // fewer bytes.
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
  IdVector<int> m_optimizer, m_parameters;  // chunks of which that is open
};

}  // namespace spillway
