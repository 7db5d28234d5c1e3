// Updates in several slices that come from a spill file and go back, through slots that are used
// again and again, come to the bits of those that find all in place; so do those of whole chunks.
#include <gtest/gtest.h>

#include <vector>

#include "plan/compile/compile.hpp"
#include "plan/data/program.hpp"
#include "tests/support/on_ranks.hpp"
#include "tests/support/sample.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "tests/support/tiny_run.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

constexpr std::int64_t kSlice = std::int64_t{512} << 10;  // elements: a piece of bf16

// It has one layer, whose update takes a dozen slices.
Graph graph_of(bool whole_chunks, Precision moments = Precision::fp32,
               Optimizer optimizer = Optimizer::adamw, std::int64_t ffn = 12'288) {
  auto config = tiny_config();
  config.model.layers = 1;
  config.model.hidden = 256;
  config.model.ffn = ffn;
  config.precision = Precision::bf16;
  config.optim.moments = moments;
  config.optim.name = optimizer;
  if (optimizer == Optimizer::sgd) config.optim.momentum = 0.9;
  auto graph = tiny_run_graph(config, g_comm->size());
  if (whole_chunks)
    for (Op& op : graph.ops) op.whole_chunk = op.phase == Phase::update;
  return graph;
}

struct Places {
  Tier optimizer, update;
  bool redo, unified = true;
};

Plan plan_of(Graph const& graph, Places const& places, std::int64_t slice) {
  Plan plan;
  plan.blocks.resize(graph.blocks.size());
  plan.chunks.resize(graph.chunks.size());
  for (auto& chunk : plan.chunks) {
    chunk.optimizer = places.optimizer;
    chunk.update = places.update;
  }
  plan.redo = places.redo;
  plan.update_slice = slice;
  plan.unified = places.unified;
  plan.staging_piece_bytes = std::int64_t{1} << 20;  // a slice of a moment takes two
  return plan;
}

Story story_of(Graph const& graph, Plan const& plan) {
  return train({.graph = graph, .plan = plan, .comm = *g_comm, .clip = plan.redo, .learns = false});
}

std::int64_t updates_of(Graph const& graph, Plan const& plan) {
  auto const program = compile(graph, nullptr, plan, 1, g_comm->size()).train;
  return std::ranges::count_if(program.items, [&](Item const& item) {
    return item.kind == ItemKind::op &&
           program.ops[static_cast<std::size_t>(item.op)].phase == Phase::update;
  });
}

std::vector<bool> redo_of_this_sample() {
  if (takes_all()) return {true, false};
  return {turn_of(2) == 0};
}

TEST(UpdateSlices, come_to_the_bits_of_updates_in_place) {
  auto const sliced = graph_of(false), whole = graph_of(true);
  for (bool const redo : redo_of_this_sample()) {
    auto const expected =
        story_of(sliced, plan_of(sliced, {Tier::device, Tier::device, redo}, kSlice));
    for (auto const optimizer : {Tier::host, Tier::nvme}) {
      for (int const turn : {0, 1, 2, 3}) {
        auto const update = turn % 2 == 0 ? Tier::device : Tier::host;
        bool const unified = turn < 2;
        SCOPED_TRACE(testing::Message() << "optimizer " << static_cast<int>(optimizer)
                                        << ", update " << static_cast<int>(update)
                                        << (unified ? "" : ", a device with memory of its own"));
        auto const plan = plan_of(sliced, {optimizer, update, redo, unified}, kSlice);
        EXPECT_EQ(story_of(sliced, plan), expected);
        EXPECT_EQ(story_of(whole, plan), expected);
        bool const passes = optimizer == Tier::nvme || update == Tier::device || !unified;
        if (passes) {
          EXPECT_GT(updates_of(sliced, plan), 10);
          EXPECT_EQ(updates_of(whole, plan), std::ssize(whole.chunks));
        }
      }
    }
  }
}

TEST(UpdateSlices, round_moments_of_bf16_as_updates_in_place_do) {
  auto const graph = graph_of(false, Precision::bf16);
  auto const expected = story_of(graph, plan_of(graph, {Tier::device, Tier::device, true}, kSlice));
  for (auto const update : {Tier::device, Tier::host}) {
    auto const plan = plan_of(graph, {Tier::nvme, update, true}, kSlice);
    EXPECT_EQ(story_of(graph, plan), expected) << static_cast<int>(update);
    EXPECT_GT(updates_of(graph, plan), 10);
  }
}

// States of other types and numbers, and such as have an element for each block of many.
TEST(UpdateSlices, of_all_optimizers_come_to_the_bits_of_updates_in_place) {
  for (auto const kind : {Optimizer::adamw_8bit, Optimizer::lion, Optimizer::sgd}) {
    auto const graph = graph_of(false, Precision::fp32, kind);
    auto const slice = kind == Optimizer::adamw_8bit ? 2 * kSlice : kSlice;  // a piece of codes
    auto const expected =
        story_of(graph, plan_of(graph, {Tier::device, Tier::device, true}, slice));
    for (auto const optimizer : {Tier::host, Tier::nvme}) {
      for (auto const update : {Tier::device, Tier::host}) {
        bool const redo = update == Tier::host;
        auto const plan = plan_of(graph, {optimizer, update, redo, false}, slice);
        auto const in_place = plan_of(graph, {Tier::device, Tier::device, redo}, slice);
        EXPECT_EQ(story_of(graph, plan), redo ? expected : story_of(graph, in_place))
            << word(kind) << " " << static_cast<int>(optimizer) << static_cast<int>(update);
        EXPECT_GT(updates_of(graph, plan), 5) << word(kind);
      }
    }
  }
}

// Their states have elements of their own for each parameter, and they have a workspace.
TEST(UpdateSlices, need_not_be_cut_for_optimizers_that_take_parameters_whole) {
  for (auto const kind : {Optimizer::adafactor, Optimizer::muon}) {
    auto const graph = graph_of(false, Precision::fp32, kind, 1024);
    for (auto const optimizer : {Tier::host, Tier::nvme}) {
      for (auto const update : {Tier::device, Tier::host}) {
        bool const redo = update == Tier::host;
        auto const plan = plan_of(graph, {optimizer, update, redo, false}, kSlice);
        auto const in_place = plan_of(graph, {Tier::device, Tier::device, redo}, kSlice);
        EXPECT_EQ(story_of(graph, plan), story_of(graph, in_place))
            << word(kind) << " " << static_cast<int>(optimizer) << static_cast<int>(update);
      }
    }
  }
}

TEST(UpdateSlices, that_would_tear_a_piece_of_the_file_are_refused) {
  auto const graph = graph_of(false);
  auto const plan = plan_of(graph, {Tier::nvme, Tier::host, true}, kSlice + 64);
  try {
    story_of(graph, plan);
    FAIL();
  } catch (std::logic_error const& error) {
    EXPECT_NE(std::string(error.what()).find("inside of a piece"), std::string::npos)
        << error.what();
    EXPECT_EQ(std::string(error.what()).find("item "), 0u) << error.what();
  }
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
