// Graphs drawn at random, each under Plans drawn at random: what is kept, made again or sent away,
// and where things lie, changes no bit. Their Programs are proved, and run by the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "plan/data/plan.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/interleave.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/on_ranks.hpp"
#include "tests/support/planted_faults.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/sample.hpp"
#include "tests/support/tiny_run.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

// Tensors that are worth a transfer.
RandomGraphOptions const kLarge{
    .hidden = {40, 64}, .sequence = {40, 72}, .vocab = {11, 90}, .layers = {1, 4}};
constexpr int kPlans = 2, kSteps = 2;

Graph draw_graph(Random& draws) {
  auto options = kLarge;
  options.precision = below(draws, 2) == 0 ? Precision::bf16 : Precision::fp32;
  options.ranks = g_comm->size();
  return runnable(random_graph(draws, options));
}

Plan everything_stays(Graph const& graph) {
  Plan plan;
  plan.blocks.resize(graph.blocks.size());
  plan.chunks.resize(graph.chunks.size());
  return plan;
}

// What lies in a spill file is brought in whole pieces of that, as every Plan that can be asked for
// does; other slices may be of any size.
Plan draw_plan(Graph const& graph, bool clip, Random& draws) {
  auto plan = random_plan(graph, draws);
  auto const spills = [](ChunkPlan const& places) {
    return places.parameters == Tier::nvme || places.gradients == Tier::nvme ||
           places.optimizer == Tier::nvme;
  };
  if (std::ranges::any_of(plan.chunks, spills)) plan.update_slice = std::int64_t{512} << 10;
  plan.redo |= clip;
  return plan;
}

// With its proof and the oracle's word, and what it trains to.
Story story_of(TinyRun const& run, Random& draws) {
  auto const program = tiny_program(run);
  auto const failure = Interleaver(program, 2).run_random(draws);
  EXPECT_FALSE(failure) << failure->why;
  return train(run);
}

TEST(RandomGraphs, train_to_the_same_bits_under_every_plan) {
  for (auto const seed : sampled_seeds(12, 500)) {
    Random draws(seed);
    auto const graph = draw_graph(draws);
    auto const micro_batches = 1 + below(draws, 7);
    bool const clip = below(draws, 2) == 0;
    auto const story = [&](Plan const& plan) {
      return story_of({graph, plan, *g_comm, micro_batches, clip, kSteps, {}, false}, draws);
    };
    auto const expected = story(everything_stays(graph));
    for (int i = 0; i < kPlans; ++i) {
      auto const plan = draw_plan(graph, clip, draws);
      SCOPED_TRACE("seed " + std::to_string(seed) + ", plan\n" + to_yaml(plan, graph));
      ASSERT_EQ(story(plan), expected);
    }
  }
}

// Two further uses of one parameter; nothing: no parameter has as many.
std::optional<std::pair<std::size_t, std::size_t>> uses_of_one(Graph const& graph) {
  auto const& parts = graph.parts;
  for (std::size_t j = 0; j < parts.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      bool const same =
          parts[i].chunk == parts[j].chunk && parts[i].range.first == parts[j].range.first;
      if (same) return std::pair{i, j};
    }
  }
  return {};
}

// With every use's gradient in a tensor of its own, as several micro-batches have them.
Graph with_uses_apart(Graph graph) {
  for (GradientPart const& part : graph.parts) {
    Op& maker = graph.ops[static_cast<std::size_t>(part.op)];
    View& made = maker.outputs[static_cast<std::size_t>(part.output)];
    if (part.add >= 0) graph.ops[static_cast<std::size_t>(part.add)].elided = true;
    if (made.tensor == part.tensor) continue;
    made.tensor = part.tensor;
    made.offset -= part.range.first;
    std::erase(maker.in_place, part.output);
  }
  return graph;
}

// The gradient that two parts belong to, added as Graph::parts says.
std::vector<float> summed(FiniteDifferences& run, std::vector<GradientPart> const& parts,
                          GradientPart const& of) {
  auto const& chunk = run.graph().chunks[static_cast<std::size_t>(of.chunk)];
  auto const first = run.data(chunk.gradient)
                         .subspan(static_cast<std::size_t>(of.range.first),
                                  static_cast<std::size_t>(of.range.last - of.range.first));
  std::vector<float> sum(first.begin(), first.end());
  for (GradientPart const& part : parts) {
    if (part.chunk != of.chunk || part.range.first != of.range.first) continue;
    auto const more = run.data(part.tensor);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  }
  return sum;
}

// Whether the sum is another in another order: not where the two are equal, or one is zero, or
// what comes after is so large that it hides the difference.
bool order_shows(Graph const& graph, Graph const& reordered, GradientPart const& of,
                 unsigned seed) {
  FiniteDifferences run(with_uses_apart(graph), seed);
  auto const one = summed(run, graph.parts, of), other = summed(run, reordered.parts, of);
  return one != other;
}

// What this catches between two plans: uses that one of them adds in another order.
TEST(RandomGraphs, show_by_their_bits_that_a_sum_was_reordered) {
  expect_caught(takes_all() ? 200 : 10, [](unsigned seed) {
    Random draws(seed);
    auto const graph = draw_graph(draws);
    auto const uses = uses_of_one(graph);
    if (!uses) return Planted::idle;
    auto reordered = graph;
    std::swap(reordered.parts[uses->first], reordered.parts[uses->second]);
    if (!order_shows(graph, reordered, graph.parts[uses->first], seed)) return Planted::idle;
    auto const micro_batches = 2 + below(draws, 3);
    auto const plan = draw_plan(graph, true, draws);
    auto const story = [&](Graph const& either) {
      return train({either, plan, *g_comm, micro_batches, true, kSteps, {}, false});
    };
    return story(graph) != story(reordered) ? Planted::caught : Planted::missed;
  });
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
