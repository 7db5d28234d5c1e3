// Operands by name: what is made of them, what is read back, what is refused.
#include "graph/operands.hpp"

#include <gtest/gtest.h>

#include "tests/support/refused_with.hpp"

namespace spillway::operands_test {
namespace {

View view(TensorId id) {
  return {id, 0, {1}, {1}};
}

Op product() {
  Op op;
  op.name = "h.0/fc";
  set_operands(
      op, Operands<OpKind::matmul>{.a = view(3), .b = view(5), .addend = view(7), .c = view(9)});
  return op;
}

TEST(OperandsByName, are_listed_in_the_order_of_the_table_with_nothing_for_what_is_absent) {
  auto const op = product();
  EXPECT_EQ(op.kind, OpKind::matmul);
  EXPECT_EQ(op.inputs, (std::vector{view(3), view(5), View{}, view(7)}));
  EXPECT_EQ(op.outputs, std::vector{view(9)});
}

TEST(OperandsByName, replace_those_of_before) {
  auto op = product();
  set_operands(op, Operands<OpKind::scale>{.x = view(1), .y = view(2)});
  EXPECT_EQ(op.kind, OpKind::scale);
  EXPECT_EQ(op.inputs, std::vector{view(1)});
  EXPECT_EQ(op.outputs, std::vector{view(2)});
}

TEST(OperandsByName, are_read_back) {
  auto const op = product();
  auto const o = operands<OpKind::matmul>(op);
  EXPECT_EQ(o.a, view(3));
  EXPECT_EQ(o.b, view(5));
  EXPECT_EQ(o.bias, View{});
  EXPECT_EQ(o.addend, view(7));
  EXPECT_EQ(o.c, view(9));
  EXPECT_EQ(&o.addend, &op.inputs[3]);
}

TEST(OperandsByName, of_an_output_say_whether_it_is_added_to) {
  Op op;
  set_operands(op, Operands<OpKind::layernorm_backward>{.dy = view(0),
                                                        .x = view(1),
                                                        .gamma = view(2),
                                                        .mean = view(3),
                                                        .rstd = view(4),
                                                        .dx = view(5),
                                                        .dgamma = view(6),
                                                        .dbeta = view(7)});
  op.in_place = {1};
  auto const o = operands<OpKind::layernorm_backward>(op);
  EXPECT_FALSE(is_in_place(op, o.dx));
  EXPECT_TRUE(is_in_place(op, o.dgamma));
  EXPECT_FALSE(is_in_place(op, o.dbeta));
}

TEST(OperandsByName, of_another_kind_or_another_number_are_refused) {
  auto op = product();
  EXPECT_EQ(test::mistake([&] { operands<OpKind::scale>(op); }),
            "op h.0/fc: matmul is taken for scale");
  op.inputs.pop_back();
  EXPECT_EQ(test::mistake([&] { operands<OpKind::matmul>(op); }),
            "op h.0/fc: matmul has 4 inputs and 1 outputs, not 3 and 1");
  op.inputs.resize(4);
  op.outputs.push_back(view(2));
  EXPECT_EQ(test::mistake([&] { check_operands(op); }),
            "op h.0/fc: matmul has 4 inputs and 1 outputs, not 4 and 2");
}

TEST(OperandsByName, that_are_missing_are_refused_by_name) {
  auto op = product();
  EXPECT_EQ(test::mistake([&] { check_operands(op); }), "");
  op.inputs[1] = {};
  EXPECT_EQ(test::mistake([&] { check_operands(op); }), "op h.0/fc: lacks its operand b");
  op.inputs[1] = view(5);
  op.outputs[0] = {};
  EXPECT_EQ(test::mistake([&] { check_operands(op); }), "op h.0/fc: lacks its operand c");
}

}  // namespace
}  // namespace spillway::operands_test
