// A TriedPlan is a row of a table of plans: what a run would need and take, or why it is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/plan_once.hpp"
#include "base/error.hpp"
#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"
#include "plan/time/run_cost.hpp"

namespace spillway {

// Prices of machines are compared for so many tokens if no number of them is asked for.
inline constexpr double kPricedTokens = 1e9;

struct TriedPlan {
  Status status = Status::done;  // cannot_fit or bad_input if there is no plan
  std::string why = {};          // says why there is none
  double step_s = 0;             // 0 if a rate that it depends on is unknown
  double tokens_per_s = 0;
  TierBytes peak_bytes = {};
  std::int64_t state_bytes = 0;  // what a rank keeps of the optimizer's state, wherever it lies
  // The lane that delays a step most, `compute` if no other one does, and its share of the step.
  struct Bound {
    Lane lane = Lane::compute;
    double share = 0;
  } bound = {};
  RunCost run = {};  // over the tokens that are asked for, or over kPricedTokens

  bool fits() const { return status == Status::done; }
};

// Plans with these overrides instead of those of `arguments`. Returns what cannot fit or be asked
// for as a row, and throws other errors.
TriedPlan try_plan(Planner& planner, PlanArguments const& arguments,
                   std::vector<std::string> const& overrides, std::int64_t vocab);

// Returns what lies before a refusal's remarks on plans and other ways.
inline std::string_view in_short(std::string_view why) {
  return why.substr(0, why.find(" (activations"));
}

}  // namespace spillway
