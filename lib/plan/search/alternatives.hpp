// What other choices than the one that was made would cost.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/search/solve.hpp"

namespace spillway {

// All that `solve` is asked with.
struct PlanQuestion {
  Graph const& train;
  Graph const* eval;
  PlanRequest request;
  Budgets budgets;
  Machine const& machine;
  std::int64_t micro_batches, ranks;
};

struct PlanCost {
  bool fits = false;
  TierBytes peak_bytes{};  // of the best plan; where none fits, of one that needs as little as any
  double step_s = 0;       // of that plan, simulated; 0: some rate that it needs is not known
};

struct Alternative {
  std::string name;
  PlanCost cost;
};

// all-keep, all-recompute, all-host, all-nvme: the activations of all layers handled alike, and
// what else is open solved for anew. Each is a search.
std::vector<Alternative> alternatives(PlanQuestion const& question);

// The best plan with 1 GiB more of one tier; of tiers without a budget only the device. Each is a
// search.
struct MoreRoom {
  Tier tier = Tier::device;
  PlanCost cost;
};
std::vector<MoreRoom> one_more_gib(PlanQuestion const& question);

// For several ranks: none, optimizer, gradients, all. Estimates, since no Program shards yet; each
// is a search.
std::vector<Alternative> shardings(PlanQuestion const& question);

}  // namespace spillway
