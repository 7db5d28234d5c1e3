// Norms of slices of random graphs' gradients, as ranks take them that hold one slice each: against
// sums of the gradients' own squares, and against the op that takes all slices of a whole chunk. By
// the serial kernel: that the parallel one gives its bits is a test of kernels_update.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/support/finite_differences.hpp"
#include "tests/support/norm_faults.hpp"
#include "tests/support/planted_faults.hpp"
#include "tests/support/random_graph.hpp"

namespace spillway::test::random_graph_norms_test {
namespace {

constexpr int kGraphs = 200;

// Chunks of several tiles, for ranks of which some have slices of several tiles.
Graph draw_graph(Random& draws) {
  RandomGraphOptions options{.hidden = {40, 96}, .layers = {1, 3}};
  options.ranks = 2 + below(draws, 3);
  return random_graph(draws, options);
}

// What of elements [first, last) of a chunk is parameters, squared and added up.
double squares(FiniteDifferences& run, Chunk const& chunk, ElementRange range) {
  auto const gradient = run.data(chunk.gradient);
  double sum = 0;
  for (auto const& parameter : chunk.parameters) {
    auto const [first, last] = bounding_range(parameter.view);
    for (auto i = std::max(first, range.first); i < std::min(last, range.last); ++i) {
      double const g = gradient[static_cast<std::size_t>(i)];
      sum += g * g;
    }
  }
  return sum;
}

// Slices are whole tiles, equally many but for the last ones.
ElementRange slice_of(Chunk const& chunk, std::int64_t rank, std::int64_t ranks) {
  auto const tiles = (chunk.elements + kNormTile - 1) / kNormTile;
  auto const per_rank = (tiles + ranks - 1) / ranks * kNormTile;
  return {std::min(rank * per_rank, chunk.elements),
          std::min((rank + 1) * per_rank, chunk.elements)};
}

// Whether some slice's norm is not the sum of its squares, or has not the bits that the whole
// chunk's op has given it.
bool disagree(FiniteDifferences& run, TensorId norms) {
  auto const& graph = run.graph();
  auto const ranks = graph.arithmetic.ranks;
  auto const taken = run.scalars(norms), of_whole = run.scalars(graph.known.norms);
  bool apart = false;
  for (Chunk const& chunk : graph.chunks) {
    for (std::int64_t rank = 0; chunk.trainable && rank < ranks; ++rank) {
      auto const at = static_cast<std::size_t>(chunk.norm * ranks + rank);
      double const expected = squares(run, chunk, slice_of(chunk, rank, ranks));
      apart |= !(std::abs(taken[at] - expected) <= 1e-11 * expected);
      apart |=
          std::bit_cast<std::uint64_t>(taken[at]) != std::bit_cast<std::uint64_t>(of_whole[at]);
    }
  }
  return apart;
}

TEST(RandomGraphNorms, are_those_of_their_slices) {
  for (unsigned seed = 0; seed < kGraphs / 4; ++seed) {
    Random draws(seed);
    auto const sliced = slice_norms(draw_graph(draws));
    FiniteDifferences run(sliced.graph, seed);
    run.take_norms();
    ASSERT_FALSE(disagree(run, sliced.norms)) << "seed " << seed;
  }
}

// It acts where what is misplaced is not zero.
TEST(RandomGraphNorms, with_a_tile_misplaced_at_a_slices_edge_are_caught) {
  expect_caught(kGraphs, [](unsigned seed) {
    Random draws(seed);
    auto const faulty = misplace_norm_tile(draw_graph(draws), draws);
    if (!faulty) return Planted::idle;
    FiniteDifferences run(faulty->graph, seed);
    auto const& chunk = faulty->graph.chunks[static_cast<std::size_t>(faulty->chunk)];
    if (squares(run, chunk, faulty->misplaced) == 0) return Planted::idle;
    run.take_norms();
    return disagree(run, faulty->norms) ? Planted::caught : Planted::missed;
  });
}

}  // namespace
}  // namespace spillway::test::random_graph_norms_test
