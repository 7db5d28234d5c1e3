// Graphs drawn at random, each under Plans drawn at random: what is kept, made again or sent away,
// and where things lie, changes no bit. Their Programs are proved, and run by the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "plan/passes.hpp"
#include "support/interleave.hpp"
#include "support/random_graph.hpp"
#include "support/random_plan.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/on_ranks.hpp"
#include "tests/support/tiny_run.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

// Tensors that are worth a transfer.
RandomGraphOptions const kLarge{
    .hidden = {40, 64}, .sequence = {40, 72}, .vocab = {11, 90}, .layers = {1, 5}};
constexpr int kPlans = 3;

// SPILLWAY_RANDOM_GRAPHS=500 draws that many.
unsigned graphs_to_draw() {
  auto const* const asked = std::getenv("SPILLWAY_RANDOM_GRAPHS");
  return asked == nullptr ? 40 : static_cast<unsigned>(std::atoi(asked));
}

Graph draw_graph(Random& draws) {
  auto options = kLarge;
  options.precision = below(draws, 2) == 0 ? "bf16" : "fp32";
  return runnable(random_graph(draws, options));
}

Plan everything_stays(Graph const& graph) {
  Plan plan;
  plan.blocks.resize(graph.blocks.size());
  plan.chunks.resize(graph.chunks.size());
  return plan;
}

// A slice of what lies in a spill file begins where such a file may be read.
Plan draw_plan(Graph const& graph, bool clip, Random& draws) {
  auto plan = random_plan(graph, draws);
  auto const spills = [](ChunkPlan const& places) {
    return places.parameters == Tier::nvme || places.optimizer == Tier::nvme;
  };
  constexpr auto aligned = kSpillAlignment / size_bytes(DType::i16);
  if (std::ranges::any_of(plan.chunks, spills)) plan.update_slice = aligned * (1 + below(draws, 2));
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

TEST(RandomGraphs, TrainToTheSameBitsUnderEveryPlan) {
  for (unsigned seed = 0; seed < graphs_to_draw(); ++seed) {
    Random draws(seed);
    auto const graph = draw_graph(draws);
    auto const micro_batches = 1 + below(draws, 4);
    bool const clip = below(draws, 2) == 0;
    auto const story = [&](Plan const& plan) {
      return story_of({graph, plan, *g_comm, micro_batches, clip, 3, {}, false}, draws);
    };
    auto const expected = story(everything_stays(graph));
    for (int i = 0; i < kPlans; ++i) {
      auto const plan = draw_plan(graph, clip, draws);
      SCOPED_TRACE("seed " + std::to_string(seed) + ", plan\n" + to_yaml(plan, graph));
      ASSERT_EQ(story(plan), expected);
    }
  }
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
