// What graphs are built with: parameters that lie together, stacks of rows, layers of a family.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/build.hpp"
#include "model/layers.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::builder_test {
namespace {

using NewParameter = GraphBuilder::NewParameter;

class Builder : public testing::Test {
 protected:
  Builder() { m_graph.arithmetic.micro = 3; }

  Graph m_graph;
  GraphBuilder m_builder{m_graph};
};

TEST_F(Builder, fused_parameters_have_no_gap_and_the_next_one_is_aligned) {
  m_builder.begin_block("b", true);
  auto const chunk = m_builder.add_chunk("c");
  m_builder.add_parameter(chunk, "before", {5}, {}, false);
  auto const qkv = m_builder.add_fused(
      chunk,
      {NewParameter{"q", {4, 7}, {}}, NewParameter{"k", {2, 7}, {}}, NewParameter{"v", {2, 7}, {}}},
      true);
  auto const after = m_builder.add_parameter(chunk, "after", {3}, {}, false);
  auto const& parameters = m_graph.chunks[0].parameters;
  ASSERT_EQ(parameters.size(), 5u);
  EXPECT_EQ(qkv, (View{qkv.tensor, 64, {8, 7}, {7, 1}}));
  EXPECT_EQ(parameters[1].view.offset, 64);
  EXPECT_EQ(parameters[2].view, (View{qkv.tensor, 64 + 28, {2, 7}, {7, 1}}));
  EXPECT_EQ(parameters[3].view.offset, 64 + 28 + 14);
  EXPECT_EQ(after.offset, 128);
  EXPECT_TRUE(parameters[2].decay);
}

TEST_F(Builder, what_is_fused_has_rows_of_one_length) {
  m_builder.begin_block("b", true);
  auto const chunk = m_builder.add_chunk("c");
  std::vector<NewParameter> const unlike = {NewParameter{"q", {4, 7}, {}},
                                            NewParameter{"k", {4, 8}, {}}};
  EXPECT_THROW(m_builder.add_fused(chunk, unlike, true), std::logic_error);
}

TEST_F(Builder, stacks_have_fields_of_their_own) {
  Stack const encoder{0, 4}, decoder{1, 6};
  m_builder.add_batch(BatchField::tokens, encoder);
  m_builder.add_batch(BatchField::tokens, decoder);
  m_builder.add_batch(BatchField::samples, {});
  auto const shape = [&](BatchField field, int stack) {
    return m_graph.tensors[static_cast<std::size_t>(m_graph.known.of(field, stack))].shape;
  };
  EXPECT_EQ(shape(BatchField::tokens, 0), (Shape{12}));
  EXPECT_EQ(shape(BatchField::tokens, 1), (Shape{18}));
  EXPECT_EQ(shape(BatchField::samples, 0), (Shape{3}));
  EXPECT_EQ(m_graph.known.of(BatchField::targets), -1);
}

// Rows of a stack come from `embed`; all that follows takes its number of rows from what it reads.
TEST(Layers, of_two_stacks_have_the_rows_of_theirs) {
  auto config = test::tiny_config();
  config.model.dropout = 0.1;
  Graph graph;
  graph.arithmetic = test::tiny_arithmetic(config);
  auto const micro = graph.arithmetic.micro;
  Layers layers(config, 50, Orientation::out_in, true, graph);
  auto const encoder = layers.add_stack(5), decoder = layers.add_stack(9);
  layers.add_objective(decoder);
  layers.begin_block("embed", false);
  layers.begin_chunk("embed");
  auto const wte = layers.embedding("wte", 50), wpe = layers.embedding("wpe", 9);
  auto const x = layers.dropout("x", layers.embed("e", encoder, wte, wpe));
  auto const y = layers.embed("d", decoder, wte, wpe);
  auto const z = layers.linear("z", {{"z", 7}}, x);
  layers.head(y, wte);
  layers.end_block();
  layers.finish();
  EXPECT_EQ(x.shape[0], 5 * micro);
  EXPECT_EQ(y.shape[0], 9 * micro);
  EXPECT_EQ(z.shape, (Shape{5 * micro, 7}));
  auto const of = [&](OpKind kind) { return *std::ranges::find(graph.ops, kind, &Op::kind); };
  EXPECT_EQ(attributes_of<DropoutAttributes>(of(OpKind::dropout)).sequence, 5);
  EXPECT_EQ(graph.tensor(of(OpKind::lm_head_loss).inputs[2]).shape, (Shape{9 * micro}));
}

// The stored matrix has the shape of its Hugging Face tensor; the product reads it by its strides.
TEST(Layers, store_matrices_as_their_family_does) {
  for (auto const orientation : {Orientation::in_out, Orientation::out_in}) {
    auto const config = test::tiny_config();
    Graph graph;
    graph.arithmetic = test::tiny_arithmetic(config);
    Layers layers(config, 50, orientation, true, graph);
    auto const stack = layers.add_stack(9);
    layers.begin_block("b", true);
    layers.begin_chunk("c");
    auto const x =
        layers.embed("e", stack, layers.embedding("wte", 50), layers.embedding("wpe", 9));
    layers.linear("y", {{"y", 7}}, x);
    auto const& stored = graph.chunks[0].parameters[2].view;
    auto const& read = graph.ops.back().inputs[1];
    bool const as_read = orientation == Orientation::in_out;
    EXPECT_EQ(stored.shape, as_read ? (Shape{x.shape[1], 7}) : (Shape{7, x.shape[1]}));
    EXPECT_EQ(read, as_read ? stored : transposed(stored));
  }
}

}  // namespace
}  // namespace spillway::builder_test
