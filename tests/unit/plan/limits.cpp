#include <gtest/gtest.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "plan/search/refusal.hpp"
#include "plan/search/solve.hpp"
#include "support/gpt_graph.hpp"
#include "support/plan_words.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::limits_test {
namespace {

std::string limits_error(Graph const& graph, std::int64_t micro_batches) {
  return refused_with([&] { check_limits(graph, micro_batches); });
}

TEST(Limits, MicroBatchesOfAStepAreBounded) {
  Graph const graph = gpt_training_graph({});
  EXPECT_EQ(limits_error(graph, kMostMicroBatches), "");
  EXPECT_EQ(limits_error(graph, kMostMicroBatches + 1),
            "batch.sequences: 1048577 micro-batches a step are more than 1048576; give fewer "
            "sequences or a larger batch.micro");
}

TEST(Limits, TheSumOfAllTensorsIsBoundedWhereEachOneFits) {
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

TEST(Limits, NothingIsSearchedBeyondThem) {
  Graph const graph = gpt_training_graph({});
  Budgets const budgets{std::int64_t{8} << 30, 0, 0};
  auto const micro_batches = kMostMicroBatches + 1;
  PlanQuestion const question{
      graph, nullptr, PlanWords{.activations = {"keep"}}, budgets, {}, micro_batches, 1};
  EXPECT_NE(refused_with([&] { solve(question); }), "");
  EXPECT_NE(refused_with([&] { outlook(question, Shard::none); }), "");
}

TEST(Limits, ATensorThatNoMachineHoldsIsNamed) {
  Tensor const most{.name = "x", .dtype = DType::f32, .shape = {kMostBytes / 4}};
  EXPECT_EQ(refused_with([&] { check_size(most); }), "");
  Tensor const more{.name = "h.0/fc", .dtype = DType::f32, .shape = {1 << 30, 1 << 30, 1 << 30}};
  EXPECT_EQ(refused_with([&] { check_size(more); }),
            "model: h.0/fc [1073741824, 1073741824, 1073741824] takes more than 8 PiB, which no "
            "machine has");
}

TEST(Limits, AModelOfSuchTensorsIsNotBuilt) {
  GptShape shape;
  shape.vocab = (std::int64_t{1} << 53) / shape.hidden;
  EXPECT_EQ(
      refused_with([&] { gpt_training_graph(shape); }).find("model: transformer.wte.weight ["), 0u);
}

}  // namespace
}  // namespace spillway::test::limits_test
