// Which buffer holds a tensor at the moment.
#include "plan/schedule/residence.hpp"

#include <gtest/gtest.h>

#include "plan/schedule/program_writer.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::residence_test {
namespace {

TensorId first_of(Graph const& graph, Role role) {
  return std::ranges::find(graph.tensors, role, &Tensor::role)->id;
}

// Micro-batches that one segment runs have activations of their own, and state in common.
TEST(Residence, is_of_a_micro_batch_or_of_the_step) {
  auto const graph = gpt_training_graph({.layers = 1, .hidden = 16, .heads = 2});
  auto const activation = first_of(graph, Role::activation);
  auto const parameter = first_of(graph, Role::parameter);
  ProgramWriter writer(graph, {}, 2, 1);
  writer.begin_segment("both", 2);
  auto const state = writer.resident(parameter);
  auto const first = writer.resident_or_new(activation);
  writer.copy(first, writer.add_buffer(activation, Tier::nvme), 0);
  writer.take_up(1);
  EXPECT_THROW(writer.resident(activation), std::logic_error);
  auto const second = writer.resident_or_new(activation);
  writer.copy(second, writer.add_buffer(activation, Tier::nvme), 0);
  EXPECT_NE(second, first);
  EXPECT_EQ(writer.resident(parameter), state);
  writer.forget(activation);
  writer.take_up(0);
  EXPECT_EQ(writer.resident(activation), first);
  writer.end_segment();
  writer.begin_segment("update", 0);
  EXPECT_EQ(writer.resident(parameter), state);
  EXPECT_THROW(writer.resident(activation), std::logic_error);
  writer.copy(state, writer.add_buffer(parameter, Tier::nvme), -1);
  std::vector<int> micro_batches;
  for (Item const& item : writer.program.items) micro_batches.push_back(item.micro_batch);
  EXPECT_EQ(micro_batches, (std::vector{0, 1, -1}));
}

TEST(Residence, names_the_tensor_that_is_nowhere) {
  auto const graph = gpt_training_graph({.layers = 1, .hidden = 16, .heads = 2});
  auto const activation = first_of(graph, Role::activation);
  ProgramWriter writer(graph, {}, 1, 1);
  writer.begin_segment("last", 1);
  EXPECT_EQ(mistake([&] { writer.resident(activation); }),
            "tensor '" + graph.tensors[activation].name + "' is nowhere that ops reach it");
}

}  // namespace
}  // namespace spillway::test::residence_test
