// Other plans than the chosen one are costed, to compare them with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/search/solve.hpp"

namespace spillway {

struct PlanCost {
  bool fits = false;
  TierBytes peak_bytes{};  // of the best plan; where none fits, of one that needs as little as any
  double step_s = 0;       // of that plan, simulated; 0: a rate that it needs is not known
};

struct Alternative {
  std::string name;
  PlanCost cost;
};

// Handles the activations of all layers alike (all-keep, all-recompute, all-host, all-nvme) and
// solves anew for what else is open. Each is a search.
std::vector<Alternative> alternatives(PlanQuestion const& question);

// Finds the best plan with 1 GiB more of one tier, for every tier with a budget. Each is a search.
struct MoreRoom {
  Tier tier = Tier::device;
  PlanCost cost;
};
std::vector<MoreRoom> one_more_gib(PlanQuestion const& question);

// Estimates, for several ranks, what sharding would bring: none, optimizer, gradients, all. No
// Program shards yet. Each is a search.
std::vector<Alternative> shardings(PlanQuestion const& question);

}  // namespace spillway
