// The most bytes of a step are estimated from three of the micro-batches that walk together.
#include <gtest/gtest.h>

#include "plan/search/estimate_bytes.hpp"
#include "plan/search/sharding.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::byte_peaks_test {
namespace {

constexpr WalkedGroup kPlaces[] = {
    {1, true, true}, {1, true, false}, {1, false, false}, {1, false, true}};

// A plan may seem to need more than it does where few members come back before they have to, but
// none seems to need less.
TEST(BytePeaks, are_those_of_a_walk_that_is_told_of_all_members) {
  std::vector<BlockPolicy> policies;
  for (PolicyRow const& row : kPolicyTable) policies.push_back(row.policy);
  int more = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    Random draws(seed);
    auto graph = gpt_training_graph(random_shape(draws));
    if (below(draws, 2) == 0) graph.arithmetic.reduction = Reduction::each;
    auto plan = random_plan(graph, draws);
    auto const ranks = 1 + below(draws, 3);
    plan = for_ranks(std::move(plan), ranks);
    auto const model = block_model(graph, small_machine(), policies, ranks);
    BlockShape const shape(model, plan, true, Grain::whole);
    for (WalkedGroup group : kPlaces) {
      group.members = static_cast<int>(2 + below(draws, 8));
      auto const few = most_bytes(shape, group), all = station_bytes(shape, group).most;
      for (Tier const tier : kTiersInOrder)
        EXPECT_GE(few[tier], all[tier]) << "seed " << seed << ", " << group.members << " members";
      more += few == all ? 0 : 1;
    }
  }
  EXPECT_LE(more, 50);
}

}  // namespace
}  // namespace spillway::test::byte_peaks_test
