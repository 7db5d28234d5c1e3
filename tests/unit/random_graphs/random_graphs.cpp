// The backward pass of graphs drawn at random against differences of their loss.
#include <gtest/gtest.h>

#include "tests/support/finite_differences.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::random_graphs_test {
namespace {

TEST(RandomGraphs, have_the_gradients_that_their_loss_has) {
  for (auto const seed : sampled_seeds(100, 2000)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random draws(seed);
    FiniteDifferences differences(random_graph(draws), seed);
    auto const wrong = differences.disagreement();
    ASSERT_FALSE(wrong) << describe(*wrong);
  }
}

TEST(RandomGraphs, frozen_chunks_have_no_gradients) {
  for (auto const seed : sampled_seeds(100, 2000)) {
    Random draws(seed);
    auto const graph = random_graph(draws);
    for (Chunk const& chunk : graph.chunks) EXPECT_EQ(chunk.gradient >= 0, chunk.trainable) << seed;
  }
}

}  // namespace
}  // namespace spillway::test::random_graphs_test
