// Ranks with unlike numbers of micro-batches: what they sum is what one rank sums that runs all of
// them in the same order, and no Plan changes a bit of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/compile/compile.hpp"
#include "plan/data/plan.hpp"
#include "plan/proof/alike.hpp"
#include "tests/support/interleave.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/on_ranks.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/sample.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "tests/support/tiny_run.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

constexpr int kSteps = 3;

Config config_of(Precision precision, bool tied) {
  auto config = tiny_config();
  config.model.layers = 3;
  config.model.hidden = 64;
  config.model.tied = tied;
  config.model.dropout = 0.1;
  config.data.sequence = 64;
  config.precision = precision;
  return config;
}

// Returns the graph for ranks that have so many micro-batches.
Graph graph_of(Config const& config, std::vector<int> const& counts) {
  auto graph = tiny_run_graph(config, g_comm->size());
  graph.arithmetic.share.assign(counts.begin(), counts.end());
  return graph;
}

// What this rank runs if ranks have so many micro-batches. Each rank's samples follow those of the
// rank before.
TinyRun run_of(Graph const& graph, Plan const& plan, std::vector<int> const& counts, bool clip) {
  auto const before = std::span(counts).first(static_cast<std::size_t>(g_comm->rank()));
  TinyRun run{graph, plan, *g_comm, counts[before.size()], clip, kSteps};
  run.first_micro_batch = std::accumulate(before.begin(), before.end(), 0);
  run.learns = false;  // three steps are few
  return run;
}

Plan plain(Graph const& graph) {
  Plan plan;
  plan.blocks.resize(graph.blocks.size());
  plan.chunks.resize(graph.chunks.size());
  return plan;
}

// Norms are sums over ranks' slices, and differ with these.
Story without_norms(Story const& story) {
  Story rest;
  for (std::size_t i = 0; i < story.size(); ++i)
    if (i % 2 == 0 || i >= 2 * kSteps) rest.push_back(story[i]);
  return rest;
}

// The first rank runs several micro-batches, each other one a single one, so that sums over ranks,
// which are made in the order of ranks, go on with the sum of the first.
TEST(UnevenRanks, add_what_one_rank_adds_that_runs_all_micro_batches) {
  auto const alone = make_single_rank_comm();
  for (auto const& [precision, of_first] : {std::pair(Precision::fp32, 4), {Precision::bf16, 2}}) {
    auto const config = config_of(precision, false);
    std::vector<int> counts(static_cast<std::size_t>(g_comm->size()), 1);
    counts.front() = of_first;
    auto const graph = graph_of(config, counts), whole = tiny_run_graph(config);
    auto const all = std::accumulate(counts.begin(), counts.end(), 0);
    auto const plan = plain(graph);
    auto const expected = train({whole, plan, *alone, all, false, kSteps});
    EXPECT_EQ(without_norms(train(run_of(graph, plan, counts, false))), without_norms(expected))
        << word(precision);
  }
}

Plan draw_plan(Graph const& graph, bool clip, Random& draws) {
  auto plan = random_plan(graph, draws);
  for (ChunkPlan& chunk : plan.chunks)
    if (chunk.shard == Shard::all) chunk.shard = Shard::gradients;
  plan.update_slice = std::int64_t{512} << 10;  // whole pieces of a spill file
  plan.redo |= clip;
  return plan;
}

// Ranks whose Programs do not exchange alike would wait for each other without end.
void expect_alike_exchanges(TinyRun const& run, std::vector<int> const& counts) {
  for (int const count : counts) {
    auto const theirs = compile(run.graph, nullptr, run.plan, count, run.comm.size()).train;
    ASSERT_EQ(unlike_exchanges(tiny_program(run), theirs), std::nullopt);
  }
}

// All ranks draw alike. The oracle looks at the Program of each rank.
TEST(UnevenRanks, compute_the_same_bits_under_all_plans) {
  for (auto const seed : sampled_seeds(6, 200)) {
    Random draws(seed);
    auto const precision = below(draws, 2) == 0 ? Precision::fp32 : Precision::bf16;
    auto const config = config_of(precision, below(draws, 2) == 0);
    bool const clip = below(draws, 2) == 0;
    std::vector<int> counts;
    for (int rank = 0; rank < g_comm->size(); ++rank) counts.push_back(1 + below(draws, 5));
    auto const graph = graph_of(config, counts);
    auto const simplest = plain(graph);
    auto const first = run_of(graph, simplest, counts, clip);
    ASSERT_NO_FATAL_FAILURE(expect_alike_exchanges(first, counts));
    auto const expected = train(first);
    for (int drawn = 0; drawn < 2; ++drawn) {
      auto const plan = draw_plan(graph, clip, draws);
      SCOPED_TRACE("seed " + std::to_string(seed) + ", plan\n" + to_yaml(plan, graph));
      auto const run = run_of(graph, plan, counts, clip);
      ASSERT_NO_FATAL_FAILURE(expect_alike_exchanges(run, counts));
      ASSERT_EQ(train(run), expected);
      Random order(seed);  // ranks whose Programs differ would not draw alike afterwards
      auto const failure = Interleaver(tiny_program(run), 2).run_random(order);
      EXPECT_FALSE(failure) << failure->why;
    }
  }
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
