// What plans, the engine and checkpoints suppose of every optimizer, and AdamW's own control words.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/spelling.hpp"
#include "graph/build.hpp"
#include "graph/optimizers/update_rule.hpp"
#include "graph/sharing.hpp"

namespace spillway::optimizers_test {
namespace {

Graph updated_graph(Optimizer kind, Precision precision, Precision moments) {
  Graph graph;
  graph.optim.name = kind;
  graph.arithmetic.precision = precision;
  graph.arithmetic.moments = moments;
  GraphBuilder builder(graph);
  builder.begin_block("b", false);
  int const chunk = builder.add_chunk("c");
  builder.add_parameter(chunk, "p", {3, 5}, {}, true);
  builder.add_parameter(chunk, "q", {70}, {}, false);
  builder.end_block();
  builder.finish();
  append_update(graph);
  return graph;
}

void expect_sound(Graph const& graph) {
  auto const& chunk = graph.chunks[0];
  auto const& rule = update_rule(graph.optim.name);
  auto const alignment = parameter_alignment(graph.optim.name);
  for (auto const& parameter : chunk.parameters)
    EXPECT_EQ(parameter.view.offset % alignment, 0) << parameter.name;
  EXPECT_EQ(chunk.elements % alignment, 0);
  std::vector<TensorId> kept = {chunk.parameter}, written;
  std::set<std::string> names;
  for (State const& state : chunk.states) {
    auto const& tensor = graph.tensors[state.tensor];
    auto const row = std::ranges::find(rule.states, state.name, &StateRow::name);
    ASSERT_NE(row, rule.states.end());
    EXPECT_EQ(tensor.shape, Shape{chunk.elements / row->block}) << state.name;
    EXPECT_EQ(block_elements(chunk, 1, tensor), row->block) << state.name;
    EXPECT_EQ(alignment % row->block, 0) << state.name;
    EXPECT_EQ(kNormTile % row->block, 0) << state.name << ": ranks would cut within blocks";
    EXPECT_TRUE(tensor.persistent) << state.name;
    EXPECT_TRUE(names.insert(state.name).second) << state.name << " is there twice";
    kept.push_back(state.tensor);
  }
  Op op = graph.ops.back();
  EXPECT_EQ(op.phase, Phase::update);
  EXPECT_EQ(op.chunk, chunk.id);
  ASSERT_EQ(op.inputs.size(), 2u);
  EXPECT_EQ(op.inputs[0], whole(graph.tensors[chunk.gradient]));
  EXPECT_EQ(op.inputs[1], whole(graph.tensors[graph.known.control]));
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    auto const& output = op.outputs[i];
    EXPECT_EQ(is_in_place(op, i), is_present(output)) << "output " << i;
    if (!is_present(output)) continue;
    EXPECT_EQ(output, whole(graph.tensors[output.tensor])) << "output " << i;
    written.push_back(output.tensor);
  }
  EXPECT_EQ(written, kept);
  EXPECT_EQ(update_range(op).first, 0);
}

TEST(Optimizers, update_parameters_and_all_states_of_a_chunk_in_place) {
  for (std::size_t kind = 0; kind < kWords<Optimizer>.size(); ++kind) {
    for (auto const precision : {Precision::fp32, Precision::bf16}) {
      for (auto const moments : {Precision::fp32, Precision::bf16}) {
        SCOPED_TRACE(testing::Message()
                     << kWords<Optimizer>[kind] << " " << word(precision) << ", " << word(moments));
        expect_sound(updated_graph(static_cast<Optimizer>(kind), precision, moments));
      }
    }
  }
}

// A state that no update reads would only take bytes.
TEST(Sgd, keeps_a_moment_for_its_momentum_alone) {
  for (double const momentum : {0.0, 0.9}) {
    Graph graph;
    graph.optim = {.name = Optimizer::sgd, .momentum = momentum};
    graph.arithmetic.precision = Precision::fp32;
    GraphBuilder builder(graph);
    builder.begin_block("b", false);
    builder.add_parameter(builder.add_chunk("c"), "p", {3, 5}, {}, true);
    builder.end_block();
    builder.finish();
    append_update(graph);
    EXPECT_EQ(graph.chunks[0].states.size(), momentum == 0 ? 0u : 1u);
    EXPECT_EQ(is_present(graph.ops.back().outputs[2]), momentum != 0);
  }
}

TEST(AdamW, divides_its_moments_by_what_they_are_short_of_in_the_first_updates) {
  ControlWords control{};
  auto const& rule = update_rule(Optimizer::adamw);
  rule.write_control({.beta1 = 0.5, .beta2 = 0.25}, 2, control);
  EXPECT_EQ(control, (ControlWords{0, 0, 0, 0.75, 0.9375, 0, 0, 0}));
}

}  // namespace
}  // namespace spillway::optimizers_test
