#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "tests/support/family_case.hpp"

namespace spillway::backward_test {
namespace {

using test::tiny_config, test::tiny_forward, test::tiny_training_graph;

// Every kind of graph the backward pass meets.
std::vector<Config> variants() {
  std::vector<Config> result;
  for (bool const tied : {true, false}) {
    for (bool const bias : {true, false}) {
      for (double const dropout : {0.0, 0.1}) {
        auto config = tiny_config();
        config.model.tied = tied;
        config.model.bias = bias;
        config.model.dropout = dropout;
        config.precision = bias ? Precision::fp32 : Precision::bf16;
        result.push_back(config);
      }
    }
  }
  return result;
}

bool is_given(Role role) {
  return role == Role::parameter || role == Role::remainder || role == Role::moment ||
         role == Role::batch || role == Role::scalar;
}

std::vector<View> operands(Op const& op) {
  std::vector<View> views;
  for (auto const& view : present(op.inputs)) views.push_back(view);
  for (auto const& view : present(op.outputs)) views.push_back(view);
  return views;
}

TEST(Backward, every_parameter_gets_its_gradient_once_or_in_place_afterwards) {
  for (auto const& config : variants()) {
    auto const graph = tiny_training_graph(config);
    std::map<std::pair<TensorId, std::int64_t>, int> writes;
    for (auto const& op : graph.ops) {
      for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        if (!is_present(op.outputs[i])) continue;
        if (graph.tensor(op.outputs[i]).role != Role::gradient) continue;
        int const before = writes[{op.outputs[i].tensor, op.outputs[i].offset}]++;
        EXPECT_EQ(std::ranges::count(op.in_place, static_cast<int>(i)), before) << op.name;
      }
    }
    std::size_t parameters = 0;
    for (auto const& chunk : graph.chunks) {
      for (auto const& parameter : chunk.parameters) {
        ++parameters;
        bool const shared = config.model.tied && parameter.name == "transformer.wte.weight";
        EXPECT_EQ((writes[{chunk.gradient, parameter.view.offset}]), shared ? 2 : 1)
            << parameter.name;
      }
    }
    EXPECT_EQ(writes.size(), parameters);
  }
}

TEST(Backward, nothing_is_read_before_it_is_written) {
  for (auto const& config : variants()) {
    auto const graph = tiny_training_graph(config);
    std::set<TensorId> written;
    for (auto const& op : graph.ops) {
      if (op.elided) continue;
      for (auto const& view : present(op.inputs)) {
        bool const ready = is_given(graph.tensor(view).role) || written.contains(view.tensor);
        EXPECT_TRUE(ready) << op.name << " reads " << graph.tensor(view).name;
      }
      for (auto const& view : present(op.outputs)) written.insert(view.tensor);
    }
  }
}

TEST(Backward, activations_and_their_gradients_are_written_once) {
  for (auto const& config : variants()) {
    auto const graph = tiny_training_graph(config);
    std::map<TensorId, std::vector<View>> writes;
    for (auto const& op : graph.ops) {
      if (op.elided) continue;
      for (auto const& view : present(op.outputs)) {
        if (graph.tensor(view).role == Role::activation) writes[view.tensor].push_back(view);
      }
    }
    for (auto const& [id, views] : writes) {
      std::int64_t elements = 0;
      for (auto const& view : views) elements += element_count(view.shape);
      auto const& tensor = graph.tensors[static_cast<std::size_t>(id)];
      EXPECT_EQ(elements, element_count(tensor.shape)) << tensor.name;
    }
  }
}

TEST(Backward, views_stay_inside_their_tensors) {
  for (auto const& config : variants()) {
    auto const graph = tiny_training_graph(config);
    for (auto const& op : graph.ops) {
      for (auto const& view : operands(op)) {
        auto const range = bounding_range(view);
        EXPECT_GE(range.first, 0);
        EXPECT_LE(range.last, element_count(graph.tensor(view).shape)) << op.name;
      }
    }
  }
}

TEST(Backward, ids_names_and_phases_are_in_order) {
  auto const graph = tiny_training_graph(tiny_config());
  std::set<std::string> op_names, tensor_names;
  auto phase = Phase::forward;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    auto const& op = graph.ops[i];
    EXPECT_EQ(op.id, static_cast<int>(i));
    EXPECT_LE(phase, op.phase);
    phase = op.phase;
    EXPECT_TRUE(op_names.insert(op.name).second) << op.name;
    if (op.phase != Phase::backward) continue;
    EXPECT_EQ(graph.ops[static_cast<std::size_t>(op.origin)].phase, Phase::forward);
    EXPECT_EQ(graph.ops[static_cast<std::size_t>(op.origin)].block, op.block);
  }
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    EXPECT_EQ(graph.tensors[i].id, static_cast<TensorId>(i));
    EXPECT_TRUE(tensor_names.insert(graph.tensors[i].name).second) << graph.tensors[i].name;
  }
}

TEST(Backward, loss_is_computed_where_its_gradient_is) {
  auto const graph = tiny_training_graph(tiny_config());
  int writers = 0;
  for (auto const& op : graph.ops) {
    EXPECT_EQ(op.elided, op.kind == OpKind::lm_head_loss);
    for (auto const& view : op.outputs) {
      if (view.tensor != graph.known.loss || op.elided) continue;
      ++writers;
      EXPECT_EQ(op.kind, OpKind::lm_head_loss_backward);
      EXPECT_EQ(op.in_place, std::vector{1});
    }
  }
  EXPECT_EQ(writers, 1);
}

TEST(Backward, residual_sums_cost_no_op_of_their_own) {
  auto const graph = tiny_training_graph(tiny_config());
  EXPECT_EQ(std::ranges::count(graph.ops, OpKind::add, &Op::kind), 0);
  auto const absorbs = [](Op const& op) {
    return op.kind == OpKind::layernorm_backward && is_present(op.inputs[5]);
  };
  EXPECT_EQ(std::ranges::count_if(graph.ops, absorbs), 2 * 2);
}

TEST(Backward, backward_takes_twice_the_products_of_forward) {
  auto const graph = tiny_training_graph(tiny_config());
  double forward = 0, backward = 0;
  for (auto const& op : graph.ops) {
    if (op.kind != OpKind::matmul) continue;
    EXPECT_GT(op.flops, 0);
    (op.phase == Phase::forward ? forward : backward) += op.flops;
  }
  EXPECT_EQ(backward, 2 * forward);
}

// What lies between the products is in the workspaces of ops alone.
TEST(Backward, mlps_by_tiles_have_no_tensor_of_all_rows_between_their_products) {
  for (auto [name, keys, config] : test::family_cases()) {
    SCOPED_TRACE(name);
    if (std::ranges::count(config.model.lora.targets, "all") > 0) continue;  // has no tiles
    if (config.model.quantize != Quantization::none) continue;  // its matrices are such tensors
    config.model.ffn = 600;                                     // wider than any other tensor
    auto const widest = [&](std::int64_t chunk) {
      config.batch.mlp_chunk = chunk;
      std::int64_t columns = 0;
      for (auto const& tensor : tiny_training_graph(config).tensors)
        if (tensor.role == Role::activation && tensor.shape.size() == 2)
          columns = std::max(columns, tensor.shape[1]);
      return columns;
    };
    EXPECT_GE(widest(0), 600);
    EXPECT_LT(widest(8), 300);
  }
}

// What no model does so far: an activation with two consumers that cannot add.
TEST(Backward, contributions_that_no_op_absorbs_are_added_in_op_order) {
  Graph graph;
  GraphBuilder builder(graph);
  builder.begin_block("b", false);
  int const chunk = builder.add_chunk("c");
  auto const w = builder.add_parameter(chunk, "w", {5, 4}, {}, false);
  auto const activation = [&](char const* name) {
    return builder.add_tensor(name, Role::activation, DType::bf16, {3, 4});
  };
  auto const targets = builder.add_tensor("targets", Role::batch, DType::i32, {3});
  auto const losses = builder.add_tensor("losses", Role::activation, DType::f32, {3});
  auto const loss = builder.add_tensor("loss", Role::scalar, DType::f64, {2});
  graph.known.loss = loss.tensor;
  auto const project = builder.add_parameter(chunk, "project", {4, 4}, {}, false);
  auto const x = activation("x"), f = activation("f"), g = activation("g"), h = activation("h");
  builder.append<OpKind::matmul>("x", {.a = activation("start"), .b = project, .c = x});
  builder.append<OpKind::activation>("f", {.f = x, .g = f});
  builder.append<OpKind::activation>("g", {.f = x, .g = g});
  builder.append<OpKind::add>("h", {.a = f, .b = g, .c = h});
  builder.append<OpKind::lm_head_loss>(
      "loss",
      {.x = h, .w = w, .targets = targets, .weights = targets, .losses = losses, .loss = loss});
  builder.end_block();
  builder.finish();
  append_backward(graph);

  auto const& ops = graph.ops;
  ASSERT_EQ(ops.size(), 5u + 5);
  auto const &loss_op = ops[5], &from_g = ops[6], &from_f = ops[7], &sum = ops[8];
  EXPECT_EQ(from_g.inputs[1], loss_op.outputs[2]);  // the gradient of a sum is passed on
  EXPECT_EQ(from_f.inputs[1], loss_op.outputs[2]);
  EXPECT_EQ(sum.kind, OpKind::add);
  EXPECT_EQ(sum.inputs[0], from_g.outputs[0]);
  EXPECT_EQ(sum.inputs[1], from_f.outputs[0]);
  EXPECT_NE(sum.outputs[0].tensor, sum.inputs[0].tensor);
}

TEST(Update, norms_come_first_then_every_chunk_in_the_order_of_the_next_forward) {
  for (auto const precision : {Precision::fp32, Precision::bf16}) {
    auto config = tiny_config();
    config.precision = precision;
    auto const graph = tiny_training_graph(config);
    auto const chunks = graph.chunks.size();
    for (std::size_t c = 0; c < chunks; ++c) {
      auto const& norm = graph.ops[graph.ops.size() - 2 * chunks + c];
      auto const& adamw = graph.ops[graph.ops.size() - chunks + c];
      EXPECT_EQ(norm.kind, OpKind::square_norm);
      EXPECT_EQ(norm.outputs[0].offset, static_cast<std::int64_t>(c));
      EXPECT_EQ(adamw.kind, OpKind::adamw);
      EXPECT_EQ(adamw.chunk, static_cast<int>(c));
      bool const split = precision == Precision::bf16;
      EXPECT_EQ(adamw.outputs.size(), 4u);
      EXPECT_EQ(is_present(adamw.outputs[1]), split);
      EXPECT_EQ(adamw.in_place, split ? (std::vector{0, 1, 2, 3}) : (std::vector{0, 2, 3}));
      EXPECT_EQ(attributes_of<AdamWAttributes>(adamw).beta2, config.optim.beta2);
    }
  }
}

TEST(Workspaces, are_asked_for_every_op) {
  auto graph = tiny_training_graph(tiny_config());
  size_workspaces(graph, [](Graph const&, Op const& op) { return std::int64_t{op.id} + 1; });
  for (auto const& op : graph.ops) EXPECT_EQ(op.workspace_bytes, op.id + 1);
  for (auto const bytes : {kMostBytes + 1, std::int64_t{-1}}) {
    try {
      size_workspaces(graph, [&](Graph const&, Op const& op) { return op.id == 2 ? bytes : 0; });
      FAIL();
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::bad_input);
      EXPECT_EQ(error.what(), "model: " + graph.ops[2].name +
                                  " needs a workspace of more than 8 PiB, which no machine has");
    }
  }
  size_workspaces(graph, [](Graph const&, Op const&) { return kMostBytes; });
  EXPECT_EQ(graph.ops[0].workspace_bytes, kMostBytes);
}

}  // namespace
}  // namespace spillway::backward_test
