// Mistakes planted in the backward pass of random graphs: differences of the loss show them. A
// mistake can act where it makes some parameter's gradient another (see `differ`).
#include <gtest/gtest.h>

#include "tests/support/finite_differences.hpp"
#include "tests/support/graph_faults.hpp"
#include "tests/support/planted_faults.hpp"
#include "tests/support/random_graph.hpp"

namespace spillway::test::random_graph_faults_test {
namespace {

constexpr int kPlanted = 200;  // of each kind, where they can act

struct Kind {
  char const* name;
  GraphFault plant;
};

class RandomGraphFaults : public ::testing::TestWithParam<Kind> {};

TEST_P(RandomGraphFaults, are_caught) {
  expect_caught(kPlanted, [](unsigned seed) {
    Random draws(seed);
    auto const faulty = GetParam().plant(random_graph(draws), draws);
    if (!faulty) return Planted::idle;
    FiniteDifferences differences(faulty->graph, seed, faulty->zeroed);
    FiniteDifferences const sound(faulty->sound, seed);
    if (!differ(sound.gradients(), differences.gradients())) return Planted::idle;
    return differences.disagreement() ? Planted::caught : Planted::missed;
  });
}

INSTANTIATE_TEST_SUITE_P(, RandomGraphFaults,
                         ::testing::Values(Kind{"DroppedAccumulate", drop_accumulate},
                                           Kind{"AliasedGradient", alias_gradients},
                                           Kind{"ContributionLeftOut", drop_contribution},
                                           Kind{"MaskOffByOne", shift_mask}),
                         [](auto const& info) { return info.param.name; });

}  // namespace
}  // namespace spillway::test::random_graph_faults_test
