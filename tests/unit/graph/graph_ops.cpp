// What an op says of itself: traffic, the key of its cost, attributes, and what it adds to.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "graph/build.hpp"
#include "graph/op.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/graph/one_tensor.hpp"

namespace spillway::graph_ops_test {
namespace {

using test::tensor;

TEST(Op, table_gives_names_and_backward_rules) {
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

TEST(Op, traffic_counts_a_view_once_and_in_place_twice) {
  IdVector<Tensor> const tensors{tensor({10, 10}, DType::bf16)};
  auto op = gelu(columns(whole(tensors[0]), 0, 5), whole(tensors[0]));
  EXPECT_EQ(traffic_bytes(op, tensors), 100 + 200);
  op.in_place = {0};
  EXPECT_EQ(traffic_bytes(op, tensors), 100 + 200 + 200);
}

TEST(Op, cost_key_sees_shapes_strides_types_and_attributes_but_not_random_numbers) {
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

TEST(Op, cost_key_sees_which_operands_are_there_and_what_is_added_to) {
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
TEST(Op, cost_key_names_all_that_decides_its_time) {
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
TEST(Op, traffic_of_a_tree_sum_is_that_of_a_slice) {
  IdVector<Tensor> const tensors{tensor({4, 10}), tensor({70})};
  auto op = gelu(whole(tensors[0]), whole(tensors[0]));
  op.kind = OpKind::tree_sum;
  EXPECT_EQ(traffic_bytes(op, tensors), 4 * 40 + 40);
}

TEST(Op, traffic_counts_nothing_for_absent_operands) {
  IdVector<Tensor> const tensors{tensor({10, 10})};
  auto op = gelu(whole(tensors[0]), whole(tensors[0]));
  auto const bytes = traffic_bytes(op, tensors);
  op.inputs.push_back({});
  op.outputs.push_back({});
  EXPECT_EQ(traffic_bytes(op, tensors), bytes);
}

TEST(Op, attributes_of_another_kind_are_refused_by_name) {
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

TEST(Op, adds_to_or_overwrites_all_that_it_writes_of_a_tensor) {
  Op op;
  op.outputs = {{4, 0, {2}, {1}}, {5, 0, {2}, {1}}, {}, {4, 2, {2}, {1}}};
  op.in_place = {1};
  set_in_place(op, 4, true);
  EXPECT_EQ(op.in_place, (std::vector{1, 0, 3}));
  set_in_place(op, 4, true);
  EXPECT_EQ(op.in_place, (std::vector{1, 0, 3}));
  set_in_place(op, 5, false);
  EXPECT_EQ(op.in_place, (std::vector{0, 3}));
  set_in_place(op, -1, true);  // absent outputs are none's
  set_in_place(op, 6, true);
  EXPECT_EQ(op.in_place, (std::vector{0, 3}));
  EXPECT_TRUE(is_in_place(op, 3));
  EXPECT_FALSE(is_in_place(op, 1));
  EXPECT_TRUE(writes(op, 5));
  EXPECT_FALSE(writes(op, 6));
  EXPECT_FALSE(writes(op, -1));
}

TEST(Op, range_of_an_update_is_found_in_both_kinds_of_them) {
  auto norm = gelu({}, {}, UpdateRange{7}), adamw = gelu({}, {}, AdamWAttributes{.range = {8}});
  EXPECT_EQ(update_range(norm).first, 7);
  update_range(adamw).first = 9;
  EXPECT_EQ(attributes_of<AdamWAttributes>(adamw).range.first, 9);
  auto other = gelu({}, {}, NormAttributes{});
  other.name = "h.3/gelu";
  EXPECT_EQ(test::mistake([&] { update_range(other); }),
            "h.3/gelu: a activation op with the attributes of another kind");
}

}  // namespace
}  // namespace spillway::graph_ops_test
