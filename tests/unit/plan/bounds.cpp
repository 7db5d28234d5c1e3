// What no plan can be faster than, held against what plans take.
#include <gtest/gtest.h>

#include "plan/compile/compile.hpp"
#include "plan/search/estimate.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::bounds_test {
namespace {

TEST(Bounds, are_no_more_than_what_drawn_plans_take) {
  std::vector<BlockPolicy> policies;
  for (PolicyRow const& row : kPolicyTable) policies.push_back(row.policy);
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Random draws(seed);
    auto const shape = random_shape(draws);
    auto const graph = gpt_training_graph(shape);
    auto plan = random_plan(graph, draws);
    auto const micro_batches = 1 + below(draws, 6), ranks = 1 + below(draws, 3);
    auto machine = machine_with_slow_links();
    machine.device_bytes = plan.unified ? 0 : 1;
    auto const program = compile(graph, nullptr, plan, micro_batches, ranks).train;
    auto const model = block_model(graph, machine, policies, ranks);
    Estimator const estimator(model, machine, micro_batches);
    ASSERT_LE(estimator.sums(plan).bound_s(), 1.0001 * simulate(program, machine).step_s)
        << "seed " << seed << ", plan\n"
        << to_yaml(plan, graph);
  }
}

}  // namespace
}  // namespace spillway::test::bounds_test
