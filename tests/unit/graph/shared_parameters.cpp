// Parameters with several uses, chunks that are frozen, and graphs that would train wrongly.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>

#include "graph/build.hpp"
#include "graph/gradient_map.hpp"

namespace spillway::shared_parameters_test {
namespace {

// x [3,4] passes through products and norms, and ends in a loss.
class Network {
 public:
  Network() {
    m_builder.begin_block("b", false);
    m_targets = m_builder.add_tensor("targets", Role::batch, DType::i32, {3});
    m_weights = m_builder.add_tensor("weights", Role::batch, DType::f32, {3});
    m_loss = m_builder.add_tensor("loss", Role::scalar, DType::f64, {2});
    m_graph.known.loss = m_loss.tensor;
  }

  int chunk(bool trainable) { return m_builder.add_chunk("c", trainable); }
  View parameter(int chunk, std::string const& name, Shape shape) {
    return m_builder.add_parameter(chunk, name, std::move(shape), {}, false);
  }
  View activation(std::string const& name, Shape shape) {
    return m_builder.add_tensor(name, Role::activation, DType::bf16, std::move(shape));
  }
  View product(std::string const& name, View const& x, View const& w) {
    auto const y = activation(name, {x.shape[0], w.shape[1]});
    m_builder.append<OpKind::matmul>(name, {.a = x, .b = w, .c = y});
    return y;
  }
  View gelu(std::string const& name, View const& x) {
    auto const y = activation(name, x.shape);
    m_builder.append<OpKind::activation>(name, {.f = x, .g = y});
    return y;
  }
  template <OpKind kind>
  void append(std::string const& name, Operands<kind> const& operands) {
    m_builder.append<kind>(name, operands);
  }
  Graph const& finish(View const& x, View const& w) {
    auto const losses = m_builder.add_tensor("losses", Role::activation, DType::f32, {3});
    m_builder.append<OpKind::lm_head_loss>("loss", {.x = x,
                                                    .w = w,
                                                    .targets = m_targets,
                                                    .weights = m_weights,
                                                    .losses = losses,
                                                    .loss = m_loss});
    m_builder.end_block();
    m_builder.finish();
    m_forward_ops = m_graph.ops.size();
    append_backward(m_graph);
    append_update(m_graph);
    return m_graph;
  }
  Graph const& graph() const { return m_graph; }
  std::vector<Op const*> backward(OpKind kind) const {
    std::vector<Op const*> found;
    for (Op const& op : m_graph.ops)
      if (op.phase == Phase::backward && op.kind == kind) found.push_back(&op);
    return found;
  }

 private:
  Graph m_graph;
  GraphBuilder m_builder{m_graph};
  View m_targets, m_weights, m_loss;
  std::size_t m_forward_ops = 0;
};

void expect_refusal(std::function<void()> const& build, std::string const& op,
                    std::string const& tensor) {
  try {
    build();
    FAIL() << "is not refused";
  } catch (std::logic_error const& error) {
    EXPECT_NE(std::string(error.what()).find(op), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(tensor), std::string::npos) << error.what();
  }
}

TEST(SharedParameters, further_uses_give_parts_that_are_added_in_the_order_of_backward_ops) {
  Network net;
  int const chunk = net.chunk(true);
  auto const w = net.parameter(chunk, "w", {4, 4});
  auto const head = net.parameter(chunk, "head", {5, 4});
  auto x = net.activation("x", {3, 4});
  for (char const* name : {"first", "second", "third"}) x = net.product(name, x, w);
  auto const& graph = net.finish(x, head);

  ASSERT_EQ(graph.parts.size(), 2u);
  auto const adds = net.backward(OpKind::accumulate);
  ASSERT_EQ(adds.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    auto const& part = graph.parts[i];
    EXPECT_EQ(part.add, adds[i]->id);
    auto const& maker = graph.ops[static_cast<std::size_t>(part.op)];
    EXPECT_EQ(maker.name, i == 0 ? "b/second.db" : "b/first.db");
    EXPECT_EQ(maker.outputs[static_cast<std::size_t>(part.output)].tensor, part.tensor);
    EXPECT_EQ(adds[i]->outputs[0], (View{graph.chunks[0].gradient, w.offset, {16}, {1}}));
    EXPECT_EQ(adds[i]->in_place, std::vector{0});
  }
}

TEST(SharedParameters, the_head_is_the_first_use_of_the_backward_pass) {
  Network net;
  int const chunk = net.chunk(true);
  auto const w = net.parameter(chunk, "w", {4, 4});
  auto const x = net.product("x", net.activation("start", {3, 4}), w);
  auto const& graph = net.finish(net.product("y", x, transposed(w)), w);

  ASSERT_EQ(graph.parts.size(), 2u);
  EXPECT_FALSE(is_in_place(*net.backward(OpKind::lm_head_loss_backward)[0], 3));
  EXPECT_EQ(graph.parts[0].range.first, 0);
  EXPECT_EQ(graph.parts[0].range.last, 16);
}

// A product of x to which x is added, where x has a gradient from a later op as well.
TEST(SharedActivations, are_summed_in_the_order_in_which_their_parts_are_made) {
  Network net;
  int const chunk = net.chunk(true);
  auto const w = net.parameter(chunk, "w", {4, 4}), head = net.parameter(chunk, "head", {5, 4});
  auto const x = net.product("x", net.activation("start", {3, 4}), w);
  auto const y = net.activation("y", {3, 4}), sum = net.activation("sum", {3, 4});
  net.append<OpKind::matmul>("y", {.a = x, .b = w, .addend = x, .c = y});
  net.append<OpKind::add>("sum", {.a = x, .b = y, .c = sum});
  std::set<TensorId> made;
  for (Op const& op : net.finish(sum, head).ops) {
    if (op.phase != Phase::backward) continue;
    for (View const& view : op.outputs) made.insert(view.tensor);
    for (View const& view : present(op.inputs)) {
      bool const is_gradient = net.graph().tensor(view).name.find(".d(") != std::string::npos;
      EXPECT_TRUE(!is_gradient || made.contains(view.tensor)) << op.name;
    }
    EXPECT_TRUE(op.inputs.size() < 4 || op.inputs[3] != op.outputs[0]) << op.name;
  }
}

TEST(FrozenChunks, have_neither_gradient_nor_state_nor_update) {
  Network net;
  int const frozen = net.chunk(false), trained = net.chunk(true);
  auto const w = net.parameter(frozen, "w", {4, 4});
  auto const head = net.parameter(trained, "head", {5, 4});
  auto const x = net.product("x", net.activation("start", {3, 4}), w);
  auto const& graph = net.finish(net.gelu("g", x), head);
  EXPECT_EQ(graph.chunks[0].gradient, -1);
  EXPECT_TRUE(graph.chunks[0].states.empty());
  EXPECT_EQ(graph.tensors[static_cast<std::size_t>(graph.known.norms)].shape, (Shape{1, 1}));
  EXPECT_EQ(graph.chunks[1].norm, 0);
  // No trainable parameter lies before x or g: only the head has a backward pass.
  for (Op const& op : graph.ops) {
    bool const updates = op.phase == Phase::norm || op.phase == Phase::update;
    EXPECT_EQ(op.chunk, updates ? 1 : -1) << op.name;
    bool const is_head = op.kind == OpKind::lm_head_loss_backward;
    EXPECT_EQ(op.phase == Phase::backward, is_head) << op.name;
  }
}

TEST(FrozenChunks, are_crossed_where_trainable_parameters_lie_before_them) {
  Network net;
  int const trained = net.chunk(true), frozen = net.chunk(false);
  auto const w = net.parameter(trained, "w", {4, 4});
  auto const middle = net.parameter(frozen, "middle", {4, 4});
  auto const head = net.parameter(frozen, "head", {5, 4});
  auto const x = net.product("x", net.activation("start", {3, 4}), w);
  auto const& graph = net.finish(net.product("y", x, middle), head);
  std::vector<std::string> names;
  for (Op const* op : net.backward(OpKind::matmul)) names.push_back(op->name);
  EXPECT_EQ(names, (std::vector<std::string>{"b/y.da", "b/x.db"}));
  EXPECT_EQ(graph.chunks[1].gradient, -1);
}

TEST(FrozenChunks, of_a_whole_model_leave_the_loss_to_the_forward_pass) {
  Network net;
  int const frozen = net.chunk(false);
  auto const head = net.parameter(frozen, "head", {5, 4});
  auto const& graph = net.finish(net.activation("x", {3, 4}), head);
  ASSERT_EQ(graph.ops.size(), 1u);
  EXPECT_FALSE(graph.ops[0].elided);
}

TEST(RefusedGraphs, an_op_without_a_backward_rule) {
  Network net;
  auto const chunk = net.chunk(true);
  auto const w = net.parameter(chunk, "w", {4, 4}), head = net.parameter(chunk, "head", {5, 4});
  auto const x = net.product("x", net.activation("start", {3, 4}), w);
  auto const row = net.activation("row", {3, 4});
  net.append<OpKind::select_row>("pick", {.x = x, .position = row, .row = row});
  expect_refusal([&] { net.finish(row, head); }, "b/pick", "b/row");
}

TEST(RefusedGraphs, a_trainable_parameter_that_the_loss_does_not_depend_on) {
  Network net;
  auto const chunk = net.chunk(true);
  auto const idle = net.parameter(chunk, "idle", {4, 4}), head = net.parameter(chunk, "h", {5, 4});
  auto const x = net.activation("start", {3, 4});
  net.product("unread", x, idle);
  expect_refusal([&] { net.finish(x, head); }, "graph", "idle");
}

TEST(RefusedGraphs, an_activation_of_which_only_a_part_is_used) {
  Network net;
  auto const chunk = net.chunk(true);
  auto const w = net.parameter(chunk, "w", {4, 8}), head = net.parameter(chunk, "head", {5, 4});
  auto const x = net.product("x", net.activation("start", {3, 4}), w);
  auto const project = net.parameter(chunk, "project", {4, 4});
  auto const y = net.product("y", columns(x, 0, 4), project);
  expect_refusal([&] { net.finish(y, head); }, "b/x", "b/x");
}

TEST(RefusedGraphs, parts_of_an_activation_that_overlap) {
  Network net;
  auto const chunk = net.chunk(true);
  auto const w = net.parameter(chunk, "w", {4, 8}), head = net.parameter(chunk, "head", {5, 4});
  auto const p = net.parameter(chunk, "p", {5, 4}), q = net.parameter(chunk, "q", {5, 4});
  auto const x = net.product("x", net.activation("start", {3, 4}), w);
  auto const sum = net.activation("sum", {3, 4});
  auto const y = net.product("y", columns(x, 0, 5), p), z = net.product("z", columns(x, 3, 5), q);
  net.append<OpKind::add>("sum", {.a = y, .b = z, .c = sum});
  expect_refusal([&] { net.finish(sum, head); }, "b/y", "b/x");
}

TEST(RefusedGraphs, a_part_after_a_whole) {
  Network net;
  auto const chunk = net.chunk(true);
  auto const w = net.parameter(chunk, "w", {4, 4}), head = net.parameter(chunk, "head", {5, 4});
  auto const p = net.parameter(chunk, "p", {2, 4});
  auto const x = net.product("x", net.activation("start", {3, 4}), w);
  auto const sum = net.activation("sum", {3, 4});
  auto const y = net.product("y", columns(x, 0, 2), p);
  net.append<OpKind::add>("sum",
                          {.a = x, .b = y, .c = sum});  // hands its gradient over to x, whole
  expect_refusal([&] { net.finish(sum, head); }, "b/y", "b/x");
}

TEST(RefusedGraphs, a_part_that_is_to_take_over_a_gradient) {
  Network net;
  auto const chunk = net.chunk(true);
  auto const w = net.parameter(chunk, "w", {4, 8}), head = net.parameter(chunk, "head", {5, 4});
  auto const x = net.product("x", net.activation("start", {3, 4}), w);
  auto const sum = net.activation("sum", {3, 4});
  net.append<OpKind::add>("sum", {.a = columns(x, 0, 4), .b = columns(x, 4, 4), .c = sum});
  expect_refusal([&] { net.finish(sum, head); },
                 "op b/sum, tensor b/x: ", "only a whole tensor can take over a gradient");
}

TEST(RefusedGraphs, an_activation_that_is_used_as_a_parameter) {
  Network net;
  auto const chunk = net.chunk(true);
  auto const w = net.parameter(chunk, "w", {4, 4}), head = net.parameter(chunk, "head", {5, 4});
  auto const x = net.product("x", net.activation("start", {4, 4}), w);
  auto const y = net.product("y", net.activation("other", {3, 4}), x);
  expect_refusal([&] { net.finish(y, head); },
                 "op b/y, tensor b/x: ", "is no parameter, and used as one");
}

TEST(RefusedGraphs, parameters_of_which_another_op_uses_a_part) {
  Network net;
  auto const chunk = net.chunk(true);
  auto const w = net.parameter(chunk, "w", {4, 4}), head = net.parameter(chunk, "head", {5, 4});
  View const half{w.tensor, w.offset, {4, 2}, {2, 1}};
  auto const more = net.parameter(chunk, "more", {2, 4});
  auto const x = net.product("x", net.activation("start", {3, 4}), w);
  auto const y = net.product("y", net.product("h", x, half), more);
  expect_refusal([&] { net.finish(y, head); }, "b/x", "c.parameter");
}

TEST(RefusedGraphs, an_op_that_adds_to_what_it_does_not_write) {
  Graph graph;
  GraphBuilder builder(graph);
  builder.begin_block("b", false);
  auto const activation = [&](char const* name) {
    return builder.add_tensor(name, Role::activation, DType::bf16, {3, 4});
  };
  auto const x = activation("x"), y = activation("y"), other = activation("other");
  builder.append<OpKind::activation>("y", {.f = x, .g = y});
  builder.end_block();
  GradientMap gradients(graph);
  BackwardContext context(graph, gradients, graph.ops[0]);
  expect_refusal([&] { context.emit<OpKind::add>("dx", {.a = x, .b = x, .c = y}, {}, 0, other); },
                 "op b/y.dx, tensor b/other: ", "the op adds to it and does not write it");
  EXPECT_EQ(graph.ops.size(), 1u);
}

TEST(RefusedGraphs, a_view_that_its_tensor_does_not_have) {
  Network net;
  auto const x = net.activation("x", {3, 4});
  EXPECT_THROW(columns(x, 2, 3), std::logic_error);
  EXPECT_THROW(reshaped(x, {5, 2}), std::logic_error);
  EXPECT_THROW(transposed(reshaped(x, {12})), std::logic_error);
}

}  // namespace
}  // namespace spillway::shared_parameters_test
