#include "graph/graph.hpp"

#include <gtest/gtest.h>

#include "graph/build.hpp"

namespace spillway::graph_test {
namespace {

Tensor tensor(Shape shape, DType dtype = DType::f32) {
  return {.id = 0, .name = "t", .dtype = dtype, .shape = std::move(shape)};
}

TEST(View, WholeTensorIsContiguousAndBoundedByItsElements) {
  auto const view = whole(tensor({3, 4, 5}));
  EXPECT_EQ(view.strides, (Shape{20, 5, 1}));
  EXPECT_TRUE(is_contiguous(view));
  EXPECT_EQ(bounding_range(view).first, 0);
  EXPECT_EQ(bounding_range(view).last, 60);
}

TEST(View, ColumnsLieBesideEachOther) {
  auto const k = columns(whole(tensor({4, 6})), 2, 2);
  EXPECT_EQ(k, (View{0, 2, {4, 2}, {6, 1}}));
  EXPECT_FALSE(is_contiguous(k));
  EXPECT_EQ(bounding_range(k).first, 2);
  EXPECT_EQ(bounding_range(k).last, 3 * 6 + 2 + 2);
}

TEST(View, TransposedTwiceIsItself) {
  auto const view = columns(whole(tensor({4, 6})), 1, 3);
  EXPECT_EQ(transposed(view), (View{0, 1, {3, 4}, {1, 6}}));
  EXPECT_EQ(transposed(transposed(view)), view);
}

TEST(View, ReshapedKeepsOffsetAndElements) {
  View const flat{0, 64, {12}, {1}};
  EXPECT_EQ(reshaped(flat, {3, 4}), (View{0, 64, {3, 4}, {4, 1}}));
}

TEST(View, EmptyViewTouchesNothing) {
  View const empty{0, 7, {0, 4}, {4, 1}};
  EXPECT_EQ(bounding_range(empty).first, bounding_range(empty).last);
}

TEST(Op, TableGivesNamesAndBackwardRules) {
  EXPECT_EQ(name(OpKind::lm_head_loss_backward), "lm_head_loss_backward");
  EXPECT_NE(backward_rule(OpKind::matmul), nullptr);
  EXPECT_EQ(backward_rule(OpKind::adamw), nullptr);
}

Op gelu(View const& in, View const& out, Attributes attributes = {}) {
  Op op;
  op.kind = OpKind::activation;
  op.inputs = {in};
  op.outputs = {out};
  op.attributes = std::move(attributes);
  return op;
}

TEST(Op, TrafficCountsAViewOnceAndInPlaceTwice) {
  IdVector<Tensor> const tensors{tensor({10, 10}, DType::bf16)};
  auto op = gelu(columns(whole(tensors[0]), 0, 5), whole(tensors[0]));
  EXPECT_EQ(traffic_bytes(op, tensors), 100 + 200);
  op.in_place = {0};
  EXPECT_EQ(traffic_bytes(op, tensors), 100 + 200 + 200);
}

TEST(Op, CostKeySeesShapesStridesTypesAndAttributesButNotRandomNumbers) {
  IdVector<Tensor> const f32{tensor({8, 8})}, bf16{tensor({8, 8}, DType::bf16)};
  auto const all = whole(f32[0]), half = columns(all, 0, 4);
  auto const key = [](Op const& op, auto const& tensors) { return cost_key(op, tensors); };
  auto const reference = key(gelu(all, all, DropoutAttributes{.p = 0.1, .seed = 1}), f32);
  EXPECT_EQ(reference, key(gelu(all, all, DropoutAttributes{.p = 0.1, .seed = 2}), f32));
  EXPECT_NE(reference, key(gelu(all, all, DropoutAttributes{.p = 0.2, .seed = 1}), f32));
  EXPECT_NE(reference, key(gelu(half, all, DropoutAttributes{.p = 0.1}), f32));
  EXPECT_NE(reference, key(gelu(transposed(all), all, DropoutAttributes{.p = 0.1}), f32));
  EXPECT_NE(reference, key(gelu(all, all, DropoutAttributes{.p = 0.1}), bf16));
}

TEST(Op, CostKeySeesWhichOperandsAreThereAndWhatIsAddedTo) {
  IdVector<Tensor> tensors{tensor({8, 8})};
  auto const all = whole(tensors[0]);
  auto op = gelu(all, all);
  op.inputs = {all, {}, all};
  auto const reference = cost_key(op, tensors);
  op.inputs = {all, all, {}};
  EXPECT_NE(cost_key(op, tensors), reference);
  op.inputs = {all, {}, all};
  op.in_place = {0};
  EXPECT_NE(cost_key(op, tensors), reference);
  tensors[0].role = Role::scalar;  // a few bytes, added to or not
  EXPECT_EQ(cost_key(op, tensors), reference);
}

// What is measured of one op is taken for all that have its key.
TEST(Op, CostKeyNamesAllThatDecidesItsTime) {
  IdVector<Tensor> const tensors{tensor({8, 8})};
  auto const all = whole(tensors[0]);
  auto const key = [&](Attributes const& attributes) {
    auto const text = cost_key(gelu(all, all, attributes), tensors);
    return text.substr(
        std::min(text.size(), std::string("activation f32[8,8] -> f32[8,8]").size()));
  };
  EXPECT_EQ(cost_key(gelu(columns(all, 1, 3), {}), tensors), "activation f32[8,3]/8,1 -> -");
  EXPECT_EQ(key({}), "");
  EXPECT_EQ(key(EmbedAttributes{5}), " sequence=5");
  EXPECT_EQ(key(NormAttributes{1}), "");
  AttentionAttributes attention{1, 2, 3, 4, 5, 6, true, 7, 8, 9, 0, 11, 12};
  auto const heads =
      " batch=1 queries=2 keys=3 heads=4 kv_heads=5 head_size=6 causal=1 window=7 tile=9";
  EXPECT_EQ(key(attention), heads);
  attention.dropout = 0.5;
  EXPECT_EQ(key(attention), heads + std::string(" dropout=0.5"));
  EXPECT_EQ(key(RelativeBiasAttributes{1, 2, true}), " bidirectional=1 max_distance=2");
  EXPECT_EQ(key(RelativeBiasAttributes{1, 2, false}), " bidirectional=0 max_distance=2");
  EXPECT_EQ(key(RopeAttributes{.sequence = 1, .heads = 2, .head_size = 3}), " heads=2 head_size=3");
  EXPECT_EQ(key(ActivationAttributes{Activation::relu}), " form=2");
  EXPECT_EQ(key(DropoutAttributes{0.25, 2, 3, 4}), " p=0.25 sequence=2");
  EXPECT_EQ(key(LmHeadAttributes{3, 2}), " chunk=3");
  EXPECT_EQ(key(ScaleAttributes{3}) + key(UpdateRange{3}) + key(AdamWAttributes{}), "");
}

// A rank sums its slice of what all have sent.
TEST(Op, TrafficOfATreeSumIsThatOfASlice) {
  IdVector<Tensor> const tensors{tensor({4, 10}), tensor({70})};
  auto op = gelu(whole(tensors[0]), whole(tensors[0]));
  op.kind = OpKind::tree_sum;
  EXPECT_EQ(traffic_bytes(op, tensors), 4 * 40 + 40);
}

TEST(Op, TrafficCountsNothingForAbsentOperands) {
  IdVector<Tensor> const tensors{tensor({10, 10})};
  auto op = gelu(whole(tensors[0]), whole(tensors[0]));
  auto const bytes = traffic_bytes(op, tensors);
  op.inputs.push_back({});
  op.outputs.push_back({});
  EXPECT_EQ(traffic_bytes(op, tensors), bytes);
}

TEST(Op, AttributesOfAnotherKindAreRefusedByName) {
  Op op = gelu({}, {}, NormAttributes{1e-3});
  op.name = "h.3/gelu";
  EXPECT_EQ(attributes_of<NormAttributes>(op).eps, 1e-3);
  try {
    attributes_of<EmbedAttributes>(op);
    FAIL();
  } catch (std::logic_error const& error) {
    EXPECT_NE(std::string(error.what()).find("h.3/gelu"), std::string::npos);
  }
}

// By counting.
double pairs_seen(AttentionAttributes const& a) {
  double pairs = 0;
  for (std::int64_t i = 0; i < a.queries; ++i)
    for (std::int64_t j = 0; j < a.keys; ++j) {
      bool const near = a.window == 0 || (i - j < a.window && (a.causal || j - i < a.window));
      pairs += near && !(a.causal && j > i);
    }
  return pairs;
}

TEST(Attention, VisiblePairsAreThoseThatCausalAndWindowLeave) {
  for (bool const causal : {false, true})
    for (std::int64_t const window : {0, 1, 2, 12, 13, 14, 50}) {
      AttentionAttributes const a{.queries = 13, .keys = 13, .causal = causal, .window = window};
      EXPECT_EQ(visible_pairs(a), pairs_seen(a)) << causal << ", " << window;
    }
  AttentionAttributes const cross{.queries = 5, .keys = 9};
  EXPECT_EQ(visible_pairs(cross), 45);
}

TEST(Builder, ParametersAreAlignedAndTheGapsCountAsElements) {
  Graph graph;
  GraphBuilder builder(graph);
  builder.begin_block("b", false);
  int const chunk = builder.add_chunk("c");
  builder.add_parameter(chunk, "p", {3, 5}, {}, false);
  auto const q = builder.add_parameter(chunk, "q", {70}, {}, true);
  builder.end_block();
  builder.finish();
  auto const& c = graph.chunks[0];
  EXPECT_EQ(q.offset, 64);
  EXPECT_EQ(c.elements, 64 + 128);
  EXPECT_EQ(graph.parameter_count(), 15 + 70);
  for (auto const id :
       {c.parameter, c.gradient, c.state("remainder"), c.state("m"), c.state("v")}) {
    EXPECT_EQ(graph.tensors[static_cast<std::size_t>(id)].shape, Shape{192});
  }
}

TEST(Builder, Fp32HasNoRemainderAndEvalHasNoTrainingState) {
  for (auto const purpose : {Purpose::train, Purpose::eval}) {
    Graph graph;
    graph.purpose = purpose;
    graph.arithmetic.precision = "fp32";
    GraphBuilder builder(graph);
    builder.begin_block("b", false);
    builder.add_parameter(builder.add_chunk("c"), "p", {3}, {}, false);
    builder.end_block();
    builder.finish();
    EXPECT_EQ(graph.chunks[0].state("remainder"), -1);
    EXPECT_EQ(graph.chunks[0].gradient >= 0, purpose == Purpose::train);
    EXPECT_EQ(graph.known.norms >= 0, purpose == Purpose::train);
  }
}

}  // namespace
}  // namespace spillway::graph_test
