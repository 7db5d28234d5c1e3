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

Graph updated_graph(Optimizer kind, Precision precision, Precision moments, bool in_layer) {
  Graph graph;
  graph.optim.name = kind;
  graph.arithmetic.precision = precision;
  graph.arithmetic.moments = moments;
  GraphBuilder builder(graph);
  builder.begin_block("b", in_layer);
  int const chunk = builder.add_chunk("c");
  builder.add_parameter(chunk, "p", {3, 5}, {}, true);
  builder.add_parameter(chunk, "q", {70}, {}, false);
  builder.end_block();
  builder.finish();
  append_update(graph);
  return graph;
}

// The parts of a state follow each other, at aligned offsets.
Shape expected_shape(Chunk const& chunk, State const& state, std::int64_t block) {
  if (state.parts.empty()) return {chunk.elements / block};
  EXPECT_EQ(state.parts.size(), chunk.parameters.size()) << state.name;
  std::int64_t end = 0;
  for (auto const& part : state.parts) {
    EXPECT_GE(part.first, end) << state.name;
    EXPECT_TRUE(part.first % kParameterAlignment == 0 || part.first == part.last) << state.name;
    end = part.last;
  }
  return {end};
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
    EXPECT_EQ(tensor.shape, expected_shape(chunk, state, row->block)) << state.name;
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
  EXPECT_EQ(op.whole_chunk, chunk.is_updated_whole()) << "slices of what moves as a whole";
}

TEST(Optimizers, update_parameters_and_all_states_of_a_chunk_in_place) {
  for (std::size_t kind = 0; kind < kWords<Optimizer>.size(); ++kind) {
    for (auto const precision : {Precision::fp32, Precision::bf16}) {
      for (auto const moments : {Precision::fp32, Precision::bf16}) {
        SCOPED_TRACE(testing::Message()
                     << kWords<Optimizer>[kind] << " " << word(precision) << ", " << word(moments));
        for (bool const in_layer : {false, true})
          expect_sound(updated_graph(static_cast<Optimizer>(kind), precision, moments, in_layer));
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

State const& state_of(Graph const& graph, std::string_view name) {
  return *std::ranges::find(graph.chunks[0].states, name, &State::name);
}

TEST(Adafactor, keeps_a_number_for_each_row_and_column_of_a_matrix) {
  auto const graph = updated_graph(Optimizer::adafactor, Precision::bf16, Precision::fp32, true);
  EXPECT_EQ(state_of(graph, "v").parts, (std::vector<ElementRange>{{0, 8}, {64, 134}}));
}

TEST(Muon, keeps_no_second_moment_of_matrices_of_layers) {
  auto const graph = updated_graph(Optimizer::muon, Precision::bf16, Precision::fp32, true);
  EXPECT_EQ(graph.ops.back().kind, OpKind::muon);
  EXPECT_EQ(state_of(graph, "m").parts, (std::vector<ElementRange>{{0, 15}, {64, 134}}));
  EXPECT_EQ(state_of(graph, "v").parts, (std::vector<ElementRange>{{0, 0}, {0, 70}}));
  EXPECT_EQ(graph.ops.back().flops, 5 * (4 * 3 * 3 * 5 + 2 * 3 * 3 * 3));
}

TEST(Muon, leaves_what_is_outside_of_layers_to_adamw) {
  auto const graph = updated_graph(Optimizer::muon, Precision::bf16, Precision::fp32, false);
  EXPECT_EQ(graph.ops.back().kind, OpKind::adamw);
}

// With adapters alone a chunk has nothing but matrices.
TEST(Muon, has_a_state_less_where_all_are_matrices) {
  Graph graph;
  graph.optim = {.name = Optimizer::muon, .lr = 0.25};
  graph.optim.adamw_lr = 0.125;
  graph.arithmetic.precision = Precision::fp32;
  GraphBuilder builder(graph);
  builder.begin_block("b", true);
  builder.add_parameter(builder.add_chunk("c"), "p", {3, 5}, {}, true);
  builder.end_block();
  builder.finish();
  append_update(graph);
  EXPECT_EQ(graph.chunks[0].states.size(), 1u);
  EXPECT_TRUE(graph.chunks[0].is_updated_whole());
  EXPECT_FALSE(is_present(graph.ops.back().outputs[3]));
  EXPECT_EQ(attributes_of<MuonAttributes>(graph.ops.back()).adamw.lr_share, 0.5);
  EXPECT_EQ(attributes_of<MuonAttributes>(graph.ops.back()).momentum, 0.95);
}

TEST(Adafactor, counts_new_squares_less_from_step_to_step) {
  ControlWords control{};
  update_rule(Optimizer::adafactor).write_control({.beta2_decay = -0.5}, 4, control);
  EXPECT_EQ(control, (ControlWords{0, 0, 0, 0, 0, 0, 0.5, 0}));
}

TEST(AdamW, divides_its_moments_by_what_they_are_short_of_in_the_first_updates) {
  ControlWords control{};
  auto const& rule = update_rule(Optimizer::adamw);
  rule.write_control({.beta1 = 0.5, .beta2 = 0.25}, 2, control);
  EXPECT_EQ(control, (ControlWords{0, 0, 0, 0.75, 0.9375, 0, 0, 0}));
}

}  // namespace
}  // namespace spillway::optimizers_test
