#include <gtest/gtest.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "plan/search/refusal.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::limits_test {
namespace {

std::string limits_error(Graph const& graph, std::int64_t micro_batches) {
  return refused_with([&] { check_limits(graph, micro_batches); });
}

TEST(Limits, micro_batches_of_a_step_are_bounded) {
  Graph const graph = gpt_training_graph({});
  EXPECT_EQ(limits_error(graph, kMostMicroBatches), "");
  EXPECT_EQ(limits_error(graph, kMostMicroBatches + 1),
            "batch.sequences: 1048577 micro-batches a step are more than 1048576; give fewer "
            "sequences or a larger batch.micro");
}

TEST(Limits, the_sum_of_all_tensors_is_bounded_where_each_one_fits) {
  Graph graph = gpt_training_graph({});
  auto const grow = [&](TensorId id, std::int64_t bytes) {
    auto& tensor = graph.tensors[static_cast<std::size_t>(id)];
    tensor.shape = {bytes / size_bytes(tensor.dtype)};
  };
  grow(graph.chunks.front().parameter, kMostBytes / 2);
  EXPECT_EQ(limits_error(graph, 1), "");
  EXPECT_EQ(limits_error(graph, 100),
            "batch.sequences: a step of 100 micro-batches of 4 PiB moves more than 63 bits count; "
            "give fewer sequences");
  grow(graph.chunks.back().parameter, kMostBytes);
  EXPECT_EQ(limits_error(graph, 1).find("model: its state and one micro-batch take 12 PiB"), 0u);
}

TEST(Limits, nothing_is_searched_beyond_them) {
  Graph const graph = gpt_training_graph({});
  Budgets const budgets{std::int64_t{8} << 30, 0, 0};
  auto const micro_batches = kMostMicroBatches + 1;
  PlanQuestion const question{
      graph, nullptr, PlanWords{.activations = {"keep"}}, budgets, {}, micro_batches, 1};
  EXPECT_NE(refused_with([&] { solve(question); }), "");
  EXPECT_NE(refused_with([&] { outlook(question); }), "");
}

TEST(Limits, a_tensor_that_no_machine_holds_is_named) {
  Tensor const most{.name = "x", .dtype = DType::f32, .shape = {kMostBytes / 4}};
  EXPECT_EQ(refused_with([&] { check_size(most); }), "");
  Tensor const more{.name = "h.0/fc", .dtype = DType::f32, .shape = {1 << 30, 1 << 30, 1 << 30}};
  EXPECT_EQ(refused_with([&] { check_size(more); }),
            "model: h.0/fc [1073741824, 1073741824, 1073741824] takes more than 8 PiB, which no "
            "machine has");
}

TEST(Limits, a_model_of_such_tensors_is_not_built) {
  GptShape shape;
  shape.vocab = (std::int64_t{1} << 53) / shape.hidden;
  EXPECT_EQ(
      refused_with([&] { gpt_training_graph(shape); }).find("model: transformer.wte.weight ["), 0u);
}

// A tensor in several versions, and an op that needs a workspace.
Graph graph_of(std::int64_t bytes, int versions, std::int64_t workspace_bytes) {
  Graph graph;
  Tensor& tensor = graph.tensors.emplace_back();
  tensor.dtype = DType::f64;
  tensor.shape = {bytes / size_bytes(DType::f64)};
  tensor.versions = versions;
  graph.ops.emplace_back().workspace_bytes = workspace_bytes;
  return graph;
}

TEST(Limits, hold_for_all_versions_of_tensors_and_for_workspaces) {
  constexpr auto too_large =
      "model: its state and one micro-batch take 8 PiB, more than the 8 PiB that a rank may have; "
      "give a smaller model, data.sequence or batch.micro";
  EXPECT_EQ(limits_error(graph_of(kMostBytes / 2, 2, 0), 1), "");
  EXPECT_EQ(limits_error(graph_of(kMostBytes / 2 + 8, 2, 0), 1), too_large);
  EXPECT_EQ(limits_error(graph_of(kMostBytes / 2 + 8, 1, 0), 1), "");
  EXPECT_EQ(limits_error(graph_of(kMostBytes / 2, 1, kMostBytes / 2), 1), "");
  EXPECT_EQ(limits_error(graph_of(kMostBytes / 2, 1, kMostBytes / 2 + 1), 1), too_large);
}

// 64 moves of 2^53 bytes in each of 15 micro-batches fit into 63 bits, in each of 16 they do not.
TEST(Limits, hold_for_the_moves_of_all_micro_batches) {
  EXPECT_EQ(limits_error(graph_of(kMostBytes, 1, 0), 15), "");
  EXPECT_EQ(limits_error(graph_of(kMostBytes, 1, 0), 16),
            "batch.sequences: a step of 16 micro-batches of 8 PiB moves more than 63 bits count; "
            "give fewer sequences");
}

Graph small_graph() {
  return gpt_training_graph(
      {.layers = 4, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 16, .micro = 1});
}

// Of layers, in their order; the blocks before and behind them keep all.
TEST(Needs, name_the_policies_of_all_layers_once) {
  constexpr std::int64_t mib = 1 << 20;
  auto const graph = small_graph();
  PlanWords const words{.activations = {"nvme", "recompute", "nvme", "light"}};
  Need const need{make_plan(graph, words), {3 * mib + 1, 0, 0}};
  EXPECT_EQ(describe(need, graph, {mib, 0, 0}),
            "needs at least memory.device=4MiB (activations: nvme, recompute, light)");
}

// 100 bytes a second are 8.2 MiB a day, and those of three ranks 24.7 MiB.
TEST(Needs, count_what_all_ranks_of_a_node_write) {
  auto const graph = small_graph();
  Need need{make_plan(graph, PlanWords{.activations = {"nvme"}}), {}, 100};
  auto const said = [&](std::int64_t node_ranks) { return describe(need, graph, {}, node_ranks); };
  EXPECT_EQ(said(1), "needs at least spill.max_write_per_day=9MiB (activations: nvme, keep)");
  EXPECT_EQ(said(3), "needs at least spill.max_write_per_day=25MiB (activations: nvme, keep)");
  need.nvme_bytes_per_s = 1e17;  // a drive of a machine file that says so
  EXPECT_EQ(said(1),
            "needs at least spill.max_write_per_day=9223372036854775807 (activations: nvme, keep)");
}

}  // namespace
}  // namespace spillway::test::limits_test
