// What no plan can be faster than, held against what plans take.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "plan/bound/step_bound.hpp"
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
    auto const words = fmt::format("seed {}, plan\n{}", seed, to_yaml(plan, graph));
    double const step_s = simulate(program, machine).step_s;
    ASSERT_LE(estimator.sums(plan).bound_s(), 1.0001 * step_s) << words;
    auto const& peaks = program.peak_bytes;
    Budgets const budgets{peaks[Tier::device], peaks[Tier::host], peaks[Tier::nvme]};
    auto const any = step_bound({graph, machine, budgets, micro_batches, ranks, plan.redo});
    ASSERT_LE(any.step_s, 1.0001 * step_s) << words;
  }
}

}  // namespace
}  // namespace spillway::test::bounds_test
