#include "graph/graph.hpp"

#include <gtest/gtest.h>

#include "base/checked.hpp"
#include "graph/build.hpp"
#include "graph/gradient_slice.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::graph_test {
namespace {

Tensor tensor(Shape shape, DType dtype = DType::f32) {
  return {.id = 0, .name = "t", .dtype = dtype, .shape = std::move(shape)};
}

TEST(View, whole_tensor_is_contiguous_and_bounded_by_its_elements) {
  auto const view = whole(tensor({3, 4, 5}));
  EXPECT_EQ(view.strides, (Shape{20, 5, 1}));
  EXPECT_TRUE(is_contiguous(view));
  EXPECT_EQ(bounding_range(view).first, 0);
  EXPECT_EQ(bounding_range(view).last, 60);
}

TEST(View, columns_lie_beside_each_other) {
  auto const k = columns(whole(tensor({4, 6})), 2, 2);
  EXPECT_EQ(k, (View{0, 2, {4, 2}, {6, 1}}));
  EXPECT_FALSE(is_contiguous(k));
  EXPECT_EQ(bounding_range(k).first, 2);
  EXPECT_EQ(bounding_range(k).last, 3 * 6 + 2 + 2);
}

TEST(View, transposed_twice_is_itself) {
  auto const view = columns(whole(tensor({4, 6})), 1, 3);
  EXPECT_EQ(transposed(view), (View{0, 1, {3, 4}, {1, 6}}));
  EXPECT_EQ(transposed(transposed(view)), view);
}

TEST(View, reshaped_keeps_offset_and_elements) {
  View const flat{0, 64, {12}, {1}};
  EXPECT_EQ(reshaped(flat, {3, 4}), (View{0, 64, {3, 4}, {4, 1}}));
}

TEST(View, columns_of_a_transposed_matrix_are_rows_of_the_matrix) {
  auto const turned = transposed(whole(tensor({4, 6})));
  EXPECT_EQ(columns(turned, 1, 2), (View{0, 6, {6, 2}, {1, 6}}));
  EXPECT_EQ(bounding_range(columns(turned, 1, 2)).last, 18);
}

TEST(View, columns_end_with_the_matrix) {
  auto const matrix = whole(tensor({4, 6}));
  auto const why = "graph, tensor number 0: has no such columns";
  EXPECT_EQ(test::mistake([&] { columns(matrix, 4, 2); }), "");
  EXPECT_EQ(test::mistake([&] { columns(matrix, 6, 0); }), "");
  EXPECT_EQ(test::mistake([&] { columns(matrix, 5, 2); }), why);
  EXPECT_EQ(test::mistake([&] { columns(matrix, -1, 2); }), why);
  EXPECT_EQ(test::mistake([&] { columns(matrix, 3, -1); }), why);
  EXPECT_EQ(test::mistake([&] { columns(whole(tensor({4})), 0, 1); }), why);
}

TEST(View, reshaped_needs_elements_that_follow_each_other) {
  auto const half = columns(whole(tensor({4, 6})), 0, 3);
  EXPECT_EQ(test::mistake([&] { reshaped(half, {12}); }),
            "graph, tensor number 0: has other elements than the new shape");
  EXPECT_EQ(test::mistake([&] {
              transposed(whole(tensor({2, 2, 2})));
            }),
            "graph, tensor number 0: only a matrix can be transposed");
}

TEST(View, empty_view_touches_nothing) {
  View const empty{0, 7, {0, 4}, {4, 1}};
  EXPECT_EQ(bounding_range(empty).first, bounding_range(empty).last);
}

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

TEST(Attention, visible_pairs_are_those_that_causal_and_window_leave) {
  for (bool const causal : {false, true})
    for (std::int64_t const window : {0, 1, 2, 12, 13, 14, 50}) {
      AttentionAttributes const a{.queries = 13, .keys = 13, .causal = causal, .window = window};
      EXPECT_EQ(visible_pairs(a), pairs_seen(a)) << causal << ", " << window;
    }
  AttentionAttributes const cross{.queries = 5, .keys = 9};
  EXPECT_EQ(visible_pairs(cross), 45);
}

// As when a step brings some rows to a cache of many: which of these are filled is not known.
TEST(Attention, visible_pairs_of_a_row_of_a_cache_are_its_window_at_most) {
  auto const pairs = [](std::int64_t window) {
    return visible_pairs({.queries = 5, .keys = 9, .causal = true, .window = window});
  };
  EXPECT_EQ(pairs(0), 45);
  EXPECT_EQ(pairs(3), 15);
  EXPECT_EQ(pairs(9), 45);
  EXPECT_EQ(pairs(50), 45);
}

TEST(GradientSlices, are_whole_tiles_and_what_is_left) {
  auto const expect = [](std::int64_t elements, std::int64_t ranks,
                         std::vector<std::pair<std::int64_t, std::int64_t>> const& slices) {
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      auto const [first, count] = gradient_slice(elements, rank, ranks);
      EXPECT_EQ(std::pair(first, count), slices[static_cast<std::size_t>(rank)]) << elements;
    }
  };
  expect(5000, 1, {{0, 5000}});
  expect(3 * 4096, 3, {{0, 4096}, {4096, 4096}, {8192, 4096}});
  expect(3 * 4096 + 1, 3, {{0, 8192}, {8192, 4097}, {12289, 0}});
  expect(4096, 3, {{0, 4096}, {4096, 0}, {4096, 0}});
  expect(8191, 2, {{0, 4096}, {4096, 4095}});
}

// A block that is entered twice has a group for each time.
TEST(BackwardGroups, have_the_backward_ops_of_a_block_that_follow_each_other) {
  Graph graph;
  auto const add = [&](Phase phase, int block) {
    Op op;
    op.id = static_cast<int>(graph.ops.size());
    op.phase = phase;
    op.block = block;
    graph.ops.push_back(op);
  };
  add(Phase::forward, 3), add(Phase::backward, 3), add(Phase::backward, 3);
  add(Phase::backward, 1), add(Phase::norm, 1), add(Phase::backward, 1), add(Phase::backward, 3);
  add(Phase::update, 3);
  auto const groups = backward_groups(graph);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].block, 3);
  EXPECT_EQ(groups[0].ops, (std::vector{1, 2}));
  EXPECT_EQ(groups[1].block, 1);
  EXPECT_EQ(groups[1].ops, (std::vector{3, 5}));
  EXPECT_EQ(groups[2].block, 3);
  EXPECT_EQ(groups[2].ops, std::vector{6});
}

TEST(Builder, what_is_out_of_place_is_named) {
  Graph graph;
  GraphBuilder builder(graph);
  EXPECT_EQ(test::mistake([&] { builder.add_chunk("c"); }),
            "op c: belongs to a block, and none is open");
  EXPECT_EQ(test::mistake([&] { builder.append<OpKind::add>("a", {.a = {}, .b = {}, .c = {}}); }),
            "op a: belongs to a block, and none is open");
  EXPECT_EQ(test::mistake([&] { builder.end_block(); }),
            "op the end of a block: belongs to a block, and none is open");
  builder.begin_block("h.0", true);
  EXPECT_EQ(test::mistake([&] { builder.begin_block("h.1", true); }),
            "op h.1: begins in an open block");
  EXPECT_EQ(test::mistake([&] { builder.finish(); }), "op h.0: is still open");
  builder.end_block();
  EXPECT_EQ(test::mistake([&] { builder.finish(); }), "");
  EXPECT_EQ(builder.add_tensor("x", Role::batch, DType::f32, {1}).tensor, 2);
  EXPECT_EQ(graph.tensors[2].name, "x") << "of no block";
  EXPECT_EQ(graph.tensors[2].block, -1);
}

// Moments and masters of one parameter may take as much as a number of 8 bytes for each element.
TEST(Builder, a_parameter_that_no_machine_holds_is_named) {
  Graph graph;
  GraphBuilder builder(graph);
  builder.begin_block("b", false);
  int const chunk = builder.add_chunk("c");
  auto const add = [&](std::string const& name, std::int64_t elements) {
    return test::refused_with([&] { builder.add_parameter(chunk, name, {elements}, {}, false); });
  };
  EXPECT_EQ(add("too.large", kMostBytes / 8 + 1),
            "model: too.large [1125899906842625] takes more than 8 PiB, which no machine has");
  EXPECT_EQ(add("large", kMostBytes / 8), "");
}

TEST(Builder, parameters_are_aligned_and_the_gaps_count_as_elements) {
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

TEST(Builder, fp32_has_no_remainder_and_eval_has_no_training_state) {
  for (auto const purpose : {Purpose::train, Purpose::eval}) {
    Graph graph;
    graph.purpose = purpose;
    graph.arithmetic.precision = Precision::fp32;
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
