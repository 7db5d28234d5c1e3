// Mistakes planted in the backward pass of random graphs: differences of the loss show them. A
// mistake can act where it makes some parameter's gradient another (see `differ`).
#include <gtest/gtest.h>

#include <string>

#include "support/graph_faults.hpp"
#include "support/random_graph.hpp"
#include "tests/support/finite_differences.hpp"

namespace spillway::test {
namespace {

constexpr int kPlanted = 200;  // of each kind, where they can act

struct Kind {
  char const* name;
  GraphFault plant;
};

class RandomGraphFaults : public ::testing::TestWithParam<Kind> {};

TEST_P(RandomGraphFaults, AreCaught) {
  int acting = 0, caught = 0;
  std::string missed;
  for (unsigned seed = 0; acting < kPlanted; ++seed) {
    ASSERT_LT(seed, 20u * kPlanted) << "too few places";
    Random draws(seed);
    auto const faulty = GetParam().plant(random_graph(draws), draws);
    if (!faulty) continue;
    FiniteDifferences differences(faulty->graph, seed, faulty->zeroed);
    FiniteDifferences const sound(faulty->sound, seed);
    if (!differ(sound.gradients(), differences.gradients())) continue;
    ++acting;
    if (differences.disagreement())
      ++caught;
    else
      missed += " " + std::to_string(seed);
  }
  RecordProperty("caught", caught);
  EXPECT_GE(100 * caught, 99 * acting) << caught << " of " << acting << ", missed: seeds" << missed;
}

INSTANTIATE_TEST_SUITE_P(, RandomGraphFaults,
                         ::testing::Values(Kind{"DroppedAccumulate", drop_accumulate},
                                           Kind{"AliasedGradient", alias_gradients},
                                           Kind{"ContributionLeftOut", ignore_wanted},
                                           Kind{"MaskOffByOne", shift_mask}),
                         [](auto const& info) { return info.param.name; });

}  // namespace
}  // namespace spillway::test
