// What is asked of a plan, and what is left to the search.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/plan_words.hpp"

namespace spillway::test::asked_plans_test {
namespace {

// A block before three layers and one behind them, with a chunk each.
Graph graph_of(std::int64_t elements, std::int64_t activation = 1) {
  Graph graph;
  for (char const* const name : {"embed", "h.0", "h.1", "h.2", "head"}) {
    auto const id = static_cast<int>(graph.blocks.size());
    graph.blocks.push_back({.name = name, .layer = name[0] == 'h' && name[1] == '.'});
    auto& chunk = graph.chunks.emplace_back();
    chunk.id = chunk.block = id;
    chunk.name = name;
    chunk.elements = elements;
  }
  graph.tensors.emplace_back().shape = {activation};
  return graph;
}

using Flags = std::vector<bool>;

TEST(AskedPlans, leave_to_the_search_what_is_auto) {
  auto const graph = graph_of(8);
  auto const open = open_plan(graph,
                              PlanWords{.activations = {"auto", "nvme", "auto"},
                                        .parameters = {"device", "auto", "host"},
                                        .gradients = {"auto", "host", "auto", "device"},
                                        .optimizer = {"nvme", "auto", "auto", "auto", "host"},
                                        .update = {"auto", "auto", "device", "host", "auto"},
                                        .norm_is_awaited = false},
                              /*unified=*/false);
  EXPECT_EQ(open.layers, (Flags{false, true, false, true, false}));
  auto const flags = [&](bool OpenChunk::*what) {
    Flags result;
    for (auto const& chunk : open.chunks) result.push_back(chunk.*what);
    return result;
  };
  EXPECT_EQ(flags(&OpenChunk::parameters), (Flags{false, true, false, false, false}));
  EXPECT_EQ(flags(&OpenChunk::gradients), (Flags{true, false, true, false, false}));
  EXPECT_EQ(flags(&OpenChunk::optimizer), (Flags{false, true, true, true, false}));
  EXPECT_EQ(flags(&OpenChunk::update), (Flags{true, true, false, false, true}));
  EXPECT_TRUE(open.prefetch);
  EXPECT_FALSE(open.norm_is_awaited);
  EXPECT_FALSE(open.plan.unified);
  using enum Tier;
  std::vector<ChunkPlan> const places = {{device, device, nvme, host},
                                         {device, host, device, device},
                                         {host, device, device, device},
                                         {host, device, device, host},
                                         {host, device, host, host}};
  EXPECT_EQ(open.plan.chunks, places);
  EXPECT_FALSE(open.plan.redo) << "updates on the host begin before the norm is known";
}

TEST(AskedPlans, are_redone_unless_the_host_updates_before_the_norm_is_known) {
  auto const redo = [](char const* update, bool awaited) {
    return make_plan(graph_of(8),
                     PlanWords{.update = {"device", update}, .norm_is_awaited = awaited})
        .redo;
  };
  EXPECT_TRUE(redo("host", true));
  EXPECT_FALSE(redo("host", false));
  EXPECT_TRUE(redo("device", false));
}

TEST(AskedPlans, take_the_automatic_policy_where_none_is_asked) {
  auto const plan = make_plan(graph_of(8), PlanWords{.activations = {"auto", "nvme:0.5", "auto"}},
                              BlockPolicy::light_host);
  using enum BlockPolicy;
  EXPECT_EQ(plan.blocks, (IdVector<BlockPlan>{{}, {light_host, 1}, {nvme, 0.5}, {light, 1}, {}}));
  EXPECT_EQ(plan.prefetch, 1);
  EXPECT_FALSE(open_plan(graph_of(8), PlanWords{.prefetch = 2}, true).prefetch);
}

TEST(AskedPlans, refuse_an_empty_list) {
  PlanRequest request;
  request.gradients.clear();
  try {
    make_plan(graph_of(8), request);
    FAIL();
  } catch (std::invalid_argument const& error) {
    EXPECT_STREQ(error.what(), "plan.gradients: an empty list");
  }
}

// Slices and pieces grow with a model in whole pieces of the spill file, between their bounds.
TEST(AskedPlans, cut_what_they_update_and_stage_by_the_size_of_the_model) {
  constexpr std::int64_t mi = 1 << 20;
  struct {
    std::int64_t elements, activation, slice, staging;
  } const rows[] = {{8, 1, mi / 2, 2 * mi},
                    {mi, 1, mi / 2, 2 * mi},
                    {10 * mi, 1, 5 * mi / 2, 10 * mi},
                    {16 * mi, 3 * mi, 4 * mi, 16 * mi},
                    {8, mi + 1, mi / 2, 5 * mi},
                    {100 * mi, 5 * mi + 1, 5 * mi, 16 * mi},
                    {1000 * mi, 100 * mi, 50 * mi, 100 * mi}};
  for (auto const& row : rows) {
    auto const plan = make_plan(graph_of(row.elements, row.activation), {});
    EXPECT_EQ(plan.update_slice, row.slice) << row.elements;
    EXPECT_EQ(plan.staging_piece_bytes, row.staging) << row.elements << " " << row.activation;
  }
  auto many = graph_of(100 * mi);
  many.chunks.insert(many.chunks.end(), 200, many.chunks.back());
  many.tensors.insert(many.tensors.end(), 9000, many.tensors.front());
  for (auto& tensor : many.tensors) tensor.shape = {2 * mi};
  auto const plan = make_plan(many, {});
  EXPECT_EQ(plan.update_slice, 41 * mi / 2) << "about 1024 slices in all";
  EXPECT_EQ(plan.staging_piece_bytes, 71 * mi);
}

TEST(AskedPlans, of_normal_form_keep_ordinary_blocks_and_the_last_layer_on_the_device) {
  auto const graph = graph_of(8);
  Plan plan;
  using enum BlockPolicy;
  plan.blocks = {{nvme, 0.5}, {recompute, 0.5}, {light_nvme, 0.25}, {host, 0.75}, {light, 1}};
  EXPECT_FALSE(is_normal(graph, plan));
  normalise(graph, plan);
  EXPECT_EQ(plan.blocks, (IdVector<BlockPlan>{{}, {recompute, 1}, {light_nvme, 0.25}, {}, {}}));
  EXPECT_TRUE(is_normal(graph, plan));
}

// A gradient's parts wait for each other in memory, and so do sums over ranks of every micro-batch.
TEST(AskedPlans, of_normal_form_sum_on_the_drive_what_is_summed_once) {
  auto graph = graph_of(8);
  graph.parts.resize(1);
  graph.parts[0].chunk = 1;
  auto const places = [&] {
    auto const plan = make_plan(graph, PlanWords{.gradients = {"host", "nvme"}});
    std::string letters;
    for (ChunkPlan const& chunk : plan.chunks) letters += name(chunk.gradients)[0];
    return letters;
  };
  EXPECT_EQ(places(), "hdnnn");
  graph.arithmetic.reduction = Reduction::each;
  EXPECT_EQ(places(), "hdddd");
}

TEST(AskedPlans, are_written_with_every_list_and_name) {
  auto const graph = graph_of(8);
  auto plan = make_plan(graph, {});
  using enum Tier;
  plan.blocks[2] = {BlockPolicy::light_nvme, 0.25};
  plan.chunks = {{host, device, nvme, host}, {nvme, host, device, device}, {}, {}, {device, host}};
  plan.chunks[1].shard = Shard::all;
  plan.prefetch = 7;
  plan.group = 3;
  EXPECT_EQ(to_yaml(plan, graph), R"(activations:
  - keep        # h.0
  - light+nvme:0.25 # h.1
  - keep        # h.2
parameters:
  - host        # embed
  - nvme        # h.0
  - device      # h.1
  - device      # h.2
  - device      # head
gradients:
  - device      # embed
  - host        # h.0
  - device      # h.1
  - device      # h.2
  - host        # head
optimizer:
  - nvme        # embed
  - device      # h.0
  - device      # h.1
  - device      # h.2
  - device      # head
update:
  - host        # embed
  - device      # h.0
  - device      # h.1
  - device      # h.2
  - device      # head
shard:
  - none        # embed
  - all         # h.0
  - none        # h.1
  - none        # h.2
  - none        # head
shard_ranks: all
prefetch: 7
group: 3
)");
  EXPECT_EQ(to_yaml(plan, graph).find("early"), std::string::npos) << "all wait for the norm";
  plan.redo = false;
  plan.early = 35;
  EXPECT_NE(to_yaml(plan, graph).find("early: 35\nprefetch: 7\n"), std::string::npos);
}

TEST(AskedPlans, have_as_many_early_updates_as_asked_where_nothing_waits_for_the_norm) {
  auto const early = [&](bool awaited, std::optional<int> asked) {
    PlanWords words{.update = {"host"}};
    words.early = asked;
    words.norm_is_awaited = awaited;
    return make_plan(graph_of(8), words).early;
  };
  EXPECT_EQ(early(false, 35), 35);
  EXPECT_EQ(early(false, {}), 100);
  EXPECT_EQ(early(true, 35), 100);
}

}  // namespace
}  // namespace spillway::test::asked_plans_test
