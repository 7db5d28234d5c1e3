// The claim of the whole program: how a run is planned, interrupted or watched changes no bit.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/parity/experiment.hpp"

namespace spillway::test {

// Runs the input under every kind of plan and after a restart, and expects equal bits. Three blocks
// or more, so that each fate occurs. Returns the run that keeps everything.
Run expect_plans_agree(Experiment const& experiment);

// precision, micro-batches a step, clipping.
using PlanCase = std::tuple<std::string, int, std::string>;
std::string case_name(testing::TestParamInfo<PlanCase> const& info);
inline std::vector<PlanCase> plan_cases() {
  return {{"bf16", 1, "clipped"}, {"bf16", 3, "free"}, {"fp32", 1, "free"},
          {"fp32", 3, "clipped"}, {"bf16", 1, "free"}, {"bf16", 3, "clipped"},
          {"fp32", 1, "clipped"}, {"fp32", 3, "free"}};
}
// All of them, or two in which each of the three differs; `offset` as in turn_of.
std::vector<PlanCase> some_plan_cases(std::uint64_t offset);
void expect_plans_agree(PlanCase const& plan_case, int ranks);

}  // namespace spillway::test
