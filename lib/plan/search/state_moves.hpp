// State that leaves the device: the optimizer's of some chunks, and, once that is all of it, some
// chunks' parameters.
#pragma once

#include <vector>

#include "plan/data/budgets.hpp"
#include "plan/data/open_plan.hpp"
#include "plan/search/estimate.hpp"

namespace spillway {

struct StateMoves {
  bool from_back = true, parameters_from_back = true;  // else from the front
  bool drive_only = false;  // else the host tier first, for as long as it has room
  int count = 0;            // of chunks' optimizer state, then of chunks' parameters
  // Of all chunks; else the host lane updates those whose optimizer state is away.
  bool device_updates = false;

  bool operator==(StateMoves const&) const = default;
};

class StateMover {
 public:
  // All outlive it.
  StateMover(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets);

  int optimizers() const { return static_cast<int>(m_optimizer.size()); }
  int most() const { return optimizers() + static_cast<int>(m_parameters.size()); }

  // Bytes that the host tier has left for state, beside activations and gradients.
  std::int64_t room_on_host(Plan plan, StateMoves const& moves) const;

  // Sets all that is open of the Plan's chunks. `host_bytes`: what state may take of the host tier.
  void apply(StateMoves const& moves, std::int64_t host_bytes, Plan& plan) const;

  // About how many moves instead of these free so many more bytes of the device (fewer, if
  // negative).
  int moves_for(std::int64_t device_bytes, StateMoves const& moves) const;

 private:
  std::size_t optimizer(int i, bool from_back) const;
  std::size_t parameters(int i, bool from_back) const;
  Tier away(StateMoves const& moves, std::int64_t bytes, std::int64_t& host_bytes) const;
  void settle(Plan& plan, bool device_updates) const;

  Estimator const& m_estimator;
  OpenPlan const& m_open;
  Budgets const& m_budgets;
  std::vector<std::size_t> m_optimizer, m_parameters;  // chunks of which that is open
};

}  // namespace spillway
