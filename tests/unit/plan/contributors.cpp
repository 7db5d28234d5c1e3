// What fills a tier when the most of it is in use.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/compile/compile.hpp"
#include "plan/data/program.hpp"
#include "plan/explain/explain.hpp"
#include "plan/memory/layout.hpp"
#include "plan/proof/derive.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test::contributors_test {
namespace {

using Contributor = PeakMoment::Contributor;

std::int64_t sum(PeakMoment const& moment) {
  auto bytes = moment.gap_bytes;
  for (Contributor const& contributor : moment.contributors) bytes += contributor.bytes;
  return bytes;
}

Contributor const* find(PeakMoment const& moment, Content content, bool passing) {
  auto const found = std::ranges::find_if(moment.contributors, [&](Contributor const& contributor) {
    return contributor.content == content && contributor.passing == passing;
  });
  return found == moment.contributors.end() ? nullptr : &*found;
}

// Pages of 4096 bytes: a lives all along, b and c are alive together during item 1, d alone later.
struct Small {
  Small() {
    made.segment("last");
    a = made.buffer(Tier::device, 4096);
    b = made.buffer(Tier::device, 8192);
    c = made.buffer(Tier::device, 4000);  // takes a page
    d = made.buffer(Tier::device, 4096);
    auto& tensors = made.program.tensors;
    tensors[0].role = Role::parameter;
    tensors[0].persistent = made.program.buffers[0].persistent = true;
    tensors[1].block = 3;
    tensors[2].block = 4;
    made.item(Lane::compute, {}, {b});
    made.item(Lane::compute, {b}, {c});
    made.program.items[1].block = 4;
    made.item(Lane::compute, {c}, {d});
    link(made.program);
    Program* programs[] = {&made.program};
    layout(programs);
  }
  HandMade made;
  BufferId a, b, c, d;
};

TEST(Contributors, are_those_of_the_item_with_the_most_bytes_alive) {
  Small const small;
  auto const moment = peak_moment(small.made.program, Tier::device);
  EXPECT_EQ(moment.item, 1);
  ASSERT_EQ(moment.contributors.size(), 3u);
  EXPECT_EQ(moment.contributors[0].bytes, 8192);  // most bytes first
  auto const* kept = find(moment, Content::activations, false);
  auto const* at_work = find(moment, Content::activations, true);
  auto const* parameters = find(moment, Content::parameters, false);
  ASSERT_TRUE(kept && at_work && parameters);
  EXPECT_EQ(kept->largest, small.b);
  EXPECT_EQ(kept->tensors, 1);
  EXPECT_EQ(at_work->largest, small.c);
  EXPECT_EQ(at_work->bytes, 4032);  // cache lines
  EXPECT_EQ(parameters->bytes, 4096);
  EXPECT_EQ(sum(moment), small.made.program.peak_bytes[index(Tier::device)]);
}

TEST(Contributors, call_the_rest_of_the_peak_a_gap) {
  Small small;
  small.made.program.peak_bytes[index(Tier::device)] += 12345;  // as if evaluation needed more
  auto const before = peak_moment(Small().made.program, Tier::device).gap_bytes;
  EXPECT_EQ(peak_moment(small.made.program, Tier::device).gap_bytes, before + 12345);
  EXPECT_EQ(peak_moment(small.made.program, Tier::nvme).item, -1);  // nothing is there
}

TEST(Contributors, tell_copies_from_homes) {
  Graph const graph = gpt_training_graph({.layers = 4, .hidden = 128, .heads = 4, .vocab = 300});
  Plan plan;
  plan.blocks.resize(graph.blocks.size());
  plan.chunks.resize(graph.chunks.size());
  for (auto& chunk : plan.chunks) chunk.parameters = Tier::nvme;
  auto const program = compile(graph, nullptr, plan, 1, 1).train;
  auto const device = peak_moment(program, Tier::device), nvme = peak_moment(program, Tier::nvme);
  EXPECT_TRUE(find(device, Content::parameters, true));
  EXPECT_FALSE(find(device, Content::parameters, false));
  ASSERT_EQ(nvme.contributors.size(), 1u);
  EXPECT_FALSE(nvme.contributors[0].passing);
  auto const role_of_largest = [&](Content content) {
    auto const& buffer =
        program.buffers[static_cast<std::size_t>(find(device, content, false)->largest)];
    return program.tensors[static_cast<std::size_t>(buffer.tensor)].role;
  };
  EXPECT_EQ(role_of_largest(Content::gradients), Role::gradient);
  EXPECT_EQ(role_of_largest(Content::optimizer), Role::moment);
}

TEST(Contributors, sum_up_to_the_peak_whatever_the_plan) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random draws(seed);
    Graph const graph = gpt_training_graph(random_shape(draws));
    auto const plan = random_plan(graph, draws);
    auto const program = compile(graph, nullptr, plan, 1 + below(draws, 4), 1).train;
    for (Tier const tier : {Tier::device, Tier::host, Tier::nvme}) {
      auto const moment = peak_moment(program, tier);
      EXPECT_EQ(sum(moment), program.peak_bytes[index(tier)]) << "seed " << seed;
      EXPECT_GE(moment.gap_bytes, 0) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace spillway::test::contributors_test
