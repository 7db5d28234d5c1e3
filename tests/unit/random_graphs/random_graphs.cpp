// The backward pass of graphs drawn at random against differences of their loss.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/random_graph.hpp"
#include "tests/support/finite_differences.hpp"

namespace spillway::test::random_graphs_test {
namespace {

// SPILLWAY_RANDOM_GRAPHS=2000 draws that many.
unsigned graphs_to_draw() {
  auto const* const asked = std::getenv("SPILLWAY_RANDOM_GRAPHS");
  return asked == nullptr ? 300 : static_cast<unsigned>(std::atoi(asked));
}

TEST(RandomGraphs, HaveTheGradientsThatTheirLossHas) {
  for (unsigned seed = 0; seed < graphs_to_draw(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random draws(seed);
    FiniteDifferences differences(random_graph(draws), seed);
    auto const wrong = differences.disagreement();
    ASSERT_FALSE(wrong) << describe(*wrong);
  }
}

TEST(RandomGraphs, FrozenChunksHaveNoGradients) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random draws(seed);
    auto const graph = random_graph(draws);
    for (Chunk const& chunk : graph.chunks) EXPECT_EQ(chunk.gradient >= 0, chunk.trainable) << seed;
  }
}

}  // namespace
}  // namespace spillway::test::random_graphs_test
