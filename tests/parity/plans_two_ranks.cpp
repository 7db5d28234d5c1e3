// Two ranks: keep, recompute, spill, a mixture, and a restart, bit by bit.
#include "tests/parity/plan_matrix.hpp"

namespace spillway::test::plans_two_ranks_test {
namespace {

class PlansOfTwoRanks : public testing::TestWithParam<PlanCase> {};

TEST_P(PlansOfTwoRanks, of_two_ranks_and_their_restart_give_equal_bits) {
  expect_plans_agree(GetParam(), 2);
}

INSTANTIATE_TEST_SUITE_P(All, PlansOfTwoRanks,
                         testing::ValuesIn(some_plan_cases(on_stand_in() ? 1 : 2)), case_name);

}  // namespace
}  // namespace spillway::test::plans_two_ranks_test
