// Every Plan that can be asked for is scheduled, laid out and proved.
#include <gtest/gtest.h>

#include "plan/compile/compile.hpp"
#include "plan/data/plan.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test::random_plans_test {
namespace {

TEST(RandomPlans, are_proved_whatever_they_ask_for) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random draws(seed);
    auto const shape = random_shape(draws);
    Graph const train = gpt_training_graph(shape), eval = gpt_graph(shape, Purpose::eval);
    auto const plan = random_plan(train, draws);
    auto const micro_batches = 1 + below(draws, 4), ranks = 1 + below(draws, 3);
    ASSERT_NO_THROW(compile(train, &eval, plan, micro_batches, ranks))
        << "seed " << seed << ", plan\n"
        << to_yaml(plan, train);
  }
}

}  // namespace
}  // namespace spillway::test::random_plans_test
