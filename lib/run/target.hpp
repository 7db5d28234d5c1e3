// A Target is what a run is planned for.
#pragma once

#include <cstdint>

#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "run/prepare.hpp"

namespace spillway {

// The machine and the budgets are the same on all ranks.
struct Target {
  Machine machine;
  Budgets budgets;  // the budgets of one rank
  Choices choices;
  std::int64_t ranks = 1;
  bool nodes_alike = true;  // whether each node has as many ranks, with consecutive numbers
};

}  // namespace spillway
