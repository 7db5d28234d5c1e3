// What a model by blocks says of chunks that are updated whole, or not trained at all, and what
// becomes of a step's sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "plan/schedule/graph_shape.hpp"
#include "plan/search/block_shape.hpp"
#include "plan/search/estimate.hpp"
#include "plan/search/sharding.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::block_shapes_test {
namespace {

// Two blocks of a chunk of 1000 elements each.
BlockModel two_blocks() {
  BlockModel model;
  model.blocks.resize(2);
  model.chunks.resize(2);
  for (int const c : {0, 1}) {
    auto& chunk = model.chunks[c];
    chunk.first_block = chunk.last_block = chunk.own_block = c;
    chunk.readers = {c, 3 - c};
    chunk.elements = 1000;
    chunk.parameter_bytes = chunk.home_bytes = 2000;
    chunk.optimizer_bytes = 10'000;
    chunk.gradient.bytes = chunk.held_gradient_bytes = 4000;
    auto& block = model.blocks[c];
    block.chunks = block.forward_chunks = block.backward_chunks = {c};
  }
  model.trained = {0, 1};
  return model;
}

// Optimizer state is on the drive, and updates run on the device.
Plan plan_of_two(std::int64_t update_slice) {
  Plan plan;
  plan.blocks.resize(2);
  plan.chunks.assign(2, {Tier::device, Tier::device, Tier::nvme, Tier::device});
  plan.update_slice = update_slice;
  return plan;
}

TEST(BlockShapes, cut_updates_into_slices_unless_they_are_of_whole_chunks) {
  auto model = two_blocks();
  model.chunks[0].whole_chunk = true;
  share_out(model, model.ranks);
  auto const plan = plan_of_two(300);
  BlockShape const shape(model, plan, false, Grain::fine);
  auto const &whole = shape.update(0), &cut = shape.update(1);
  EXPECT_EQ(whole.slice_elements, 1000);
  EXPECT_EQ(whole.slices, 1);
  EXPECT_EQ(whole.parts, 1);
  EXPECT_EQ(cut.slice_elements, 300);
  EXPECT_EQ(cut.slices, 4);
  EXPECT_EQ(cut.parts, 4);
  for (auto const* update : {&whole, &cut}) {
    EXPECT_EQ(update->brought_bytes, (TierBytes{0, 0, 10'000}));
    EXPECT_EQ(update->back_bytes, (TierBytes{0, 0, 10'000}));
    EXPECT_EQ(update->ahead, 2);
    EXPECT_EQ(update->slots, 5);
  }
  std::vector<int> chunks, slots;
  for (int piece = 0; piece < shape.pieces(); ++piece) {
    chunks.push_back(shape.chunk_of(piece));
    slots.push_back(shape.slot_of(piece));
  }
  EXPECT_EQ(chunks, (std::vector{0, 1, 1, 1, 1}));
  EXPECT_EQ(slots, (std::vector{0, 1, 2, 3, 4}));
}

// A part of several slices stands for their slots.
TEST(BlockShapes, make_no_more_than_eight_parts_of_an_update) {
  auto model = two_blocks();
  share_out(model, model.ranks);
  auto const plan = plan_of_two(100);
  BlockShape const shape(model, plan, false, Grain::fine);
  EXPECT_EQ(shape.update(0).slices, 10);
  EXPECT_EQ(shape.update(0).parts, 8);
  EXPECT_EQ(shape.update(0).ahead, 1);
  EXPECT_EQ(shape.update(0).slots, 2);
  EXPECT_EQ(shape.pieces(), 16);
}

TEST(BlockShapes, fetch_what_is_not_trained_but_neither_sum_nor_update_it) {
  auto model = two_blocks();
  model.chunks[0].trainable = false;
  model.trained = {1};
  share_out(model, model.ranks);
  auto plan = plan_of_two(1000);
  plan.chunks[0].parameters = Tier::nvme;
  BlockShape const shape(model, plan, false, Grain::fine);
  EXPECT_TRUE(shape.is_fetched(0));
  EXPECT_FALSE(shape.is_fetched(1));
  EXPECT_FALSE(shape.update(0).uses_slots);
  EXPECT_EQ(shape.update(0).brought_bytes, TierBytes{});
  EXPECT_EQ(shape.pieces(), 1);
  EXPECT_EQ(shape.chunk_of(0), 1);
  std::vector<int> gradients;
  for (int const group : {0, 1})
    shape.gradients(group, 0, [&](GradientId id) { gradients.push_back(id.chunk); });
  EXPECT_EQ(gradients, std::vector{1});
}

Graph graph() {
  return gpt_training_graph(
      {.layers = 1, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 16, .micro = 1});
}

BlockModel model_of(Graph const& graph) {
  return block_model(graph, small_machine(), {BlockPolicy::keep});
}

TEST(BlockModels, know_what_is_not_trained_and_what_is_updated_whole) {
  auto changed = graph();
  changed.chunks[1].trainable = false;
  for (Op& op : changed.ops) op.whole_chunk = op.phase == Phase::update && op.chunk == 2;
  auto const model = model_of(changed);
  EXPECT_EQ(model.trained, (std::vector{0, 2, 3}));
  EXPECT_FALSE(model.chunks[1].trainable);
  EXPECT_EQ(model.chunks[1].gradient.bytes, 0);
  EXPECT_EQ(model.chunks[1].held_gradient_bytes, 0);
  EXPECT_GT(model.chunks[1].parameter_bytes, 0);
  for (int const c : {0, 2, 3}) {
    EXPECT_TRUE(model.chunks[c].trainable) << c;
    EXPECT_EQ(model.chunks[c].whole_chunk, c == 2) << c;
    EXPECT_GT(model.chunks[c].gradient.bytes, 0) << c;
  }
}

// Estimates would be of another step than the schedule's if the two put off other updates.
TEST(BlockModels, update_after_the_same_groups_as_the_graph) {
  int put_off = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random draws(seed);
    auto const graph = gpt_training_graph(random_shape(draws));
    auto plan = random_plan(graph, draws);
    auto const ranks = 1 + below(draws, 3), micro_batches = 1 + below(draws, 3);
    if (plan.redo) continue;
    plan = for_ranks(std::move(plan), ranks);
    auto const model = block_model(graph, small_machine(), {plan.blocks[0].policy}, ranks);
    GraphShape const ops(graph, plan, micro_batches, ranks);
    BlockShape const blocks(model, plan, micro_batches > 1, Grain::fine);
    for (int group = 0; group <= ops.groups(); ++group) {
      std::vector<int> of_ops = ops.updated_after(group), of_blocks;
      std::ranges::copy(blocks.updated_after(group), std::back_inserter(of_blocks));
      EXPECT_EQ(of_ops, of_blocks) << "seed " << seed << ", after group " << group;
    }
    for (int const chunk : blocks.chunks()) put_off += blocks.is_late(chunk) ? 1 : 0;
  }
  EXPECT_GT(put_off, 100);
}

TEST(BlockModels, know_whether_ranks_sum_every_micro_batch) {
  auto each = graph();
  each.arithmetic.reduction = Reduction::each;
  EXPECT_FALSE(model_of(graph()).reduces_each);
  EXPECT_TRUE(model_of(each).reduces_each);
}

// A rank of three holds a third, rounded up, and sends two thirds, rounded down.
TEST(BlockModels, hold_and_send_a_ranks_share) {
  auto const shared = [](Shard shard) {
    auto model = two_blocks();
    model.ranks = 3;
    model.chunks[0].trainable = false;
    share_out(model, model.ranks);
    return model.shared_by(0)[shard];
  };
  auto const none = shared(Shard::none), optimizer = shared(Shard::optimizer),
             gradients = shared(Shard::gradients), all = shared(Shard::all);
  EXPECT_EQ(none[1].optimizer_bytes, 10'000);
  EXPECT_EQ(optimizer[1].optimizer_bytes, 3334 + 667) << "its parameters lie beside it";
  EXPECT_EQ(all[1].optimizer_bytes, 3334);
  EXPECT_EQ(optimizer[1].held_gradient_bytes, 4000);
  EXPECT_EQ(optimizer[1].gradient_slice_bytes, 1334);
  EXPECT_EQ(gradients[1].home_bytes, 2000);
  EXPECT_EQ(all[1].home_bytes, 667);
  for (auto const* chunks : {&none, &optimizer, &gradients, &all})
    EXPECT_EQ((*chunks)[1].gradient.scatter_sent_bytes, 2666);
  EXPECT_EQ(none[1].gradient.gather_sent_bytes, 2666);
  EXPECT_EQ(optimizer[1].gradient.gather_sent_bytes, 0);
  EXPECT_EQ(none[1].update_sent_bytes, 0);
  EXPECT_EQ(optimizer[1].update_sent_bytes, 1333);
  EXPECT_EQ(gradients[1].update_sent_bytes, 1333);
  EXPECT_EQ(all[1].update_sent_bytes, 0);
  EXPECT_EQ(gradients[1].fetch_sent_bytes, 0);
  EXPECT_EQ(all[1].fetch_sent_bytes, 1333);
  EXPECT_EQ(optimizer[0].update_sent_bytes, 0) << "it is not trained";
  EXPECT_EQ(all[0].fetch_sent_bytes, 0) << "it is not trained, so that each rank has all of it";
}

TEST(StepSums, are_bounded_by_the_busiest_lane_or_resource) {
  StepSums sums;
  sums.busy_s = {1, 2, 3, 4, 9, 5, 6};
  sums.asked_s = {7, 8, 2};
  EXPECT_EQ(sums.bound_s(), 9);
  sums.asked_s = {7, 11, 2};
  EXPECT_EQ(sums.bound_s(), 11);
}

TEST(StepSums, between_tiers_are_those_of_four_lanes) {
  MovedBytes const moved = between_tiers({1, 2, 4, 8, 16, 32, 64});
  EXPECT_EQ(moved, (MovedBytes{.written = 16, .all = 2 + 4 + 8 + 16}));
}

}  // namespace
}  // namespace spillway::test::block_shapes_test
