// These functions find the costs of other plans, to compare them with the chosen plan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/search/solve.hpp"

namespace spillway {

struct PlanCost {
  bool fits = false;
  TierBytes peak_bytes{};  // of the best plan or, if none fits, of the leanest one
  double step_s = 0;       // that plan's simulated step; 0 if a rate is unknown
};

struct Alternative {
  std::string name;
  PlanCost cost;
};

// Treats the activations of all layers in one way (all-keep, all-recompute, all-host, all-nvme) and
// searches for the best of everything else. Each alternative takes one search.
std::vector<Alternative> alternatives(PlanQuestion const& question);

// Finds, for every tier with a budget, the best plan with 1 GiB more of that tier. Each tier takes
// one search.
struct MoreRoom {
  Tier tier = Tier::device;
  PlanCost cost;
};
std::vector<MoreRoom> one_more_gib(PlanQuestion const& question);

// Estimates what sharding over several ranks would bring: none, optimizer, gradients, all. No
// Program can shard yet. Each alternative takes one search.
std::vector<Alternative> shardings(PlanQuestion const& question);

}  // namespace spillway
