// The claim of the whole program: how a run is planned, interrupted or watched changes no bit.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/parity/experiment.hpp"

namespace spillway::test {

// Runs the input under every kind of plan and after a restart, and expects equal bits. Three blocks
// or more, so that each fate occurs. Returns the run that keeps everything.
Run expect_plans_agree(Experiment const& experiment);

// precision, micro-batches a step, clipping.
using PlanCase = std::tuple<std::string, int, std::string>;
std::string case_name(testing::TestParamInfo<PlanCase> const& info);
inline auto plan_cases() {
  return testing::Combine(testing::Values("bf16", "fp32"), testing::Values(1, 3),
                          testing::Values("clipped", "free"));
}
void expect_plans_agree(PlanCase const& plan_case, int ranks);

}  // namespace spillway::test
