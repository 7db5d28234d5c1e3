// One rank: keep, recompute, spill, a mixture, and a restart, bit by bit.
#include "tests/parity/plan_matrix.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::plans_test {
namespace {

class Plans : public testing::TestWithParam<PlanCase> {};

TEST_P(Plans, of_one_rank_and_its_restart_give_equal_bits) {
  expect_plans_agree(GetParam(), 1);
}

INSTANTIATE_TEST_SUITE_P(OfOneRank, Plans,
                         testing::ValuesIn(some_plan_cases(on_stand_in() ? 3 : 0)), case_name);

}  // namespace
}  // namespace spillway::test::plans_test
