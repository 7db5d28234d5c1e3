#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/math.hpp"
#include "graph/build.hpp"
#include "graph/target.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/host/product.hpp"
#include "kernels/host/workspaces.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::kernels_workspaces_test {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20;

// The workspaces of a training step's ops, by name.
using Sizes = std::map<std::string, std::int64_t>;

Sizes sizes_of(std::string const& isa, std::int64_t threads, Config const& config = tiny_config()) {
  auto graph = tiny_training_graph(config);
  graph.arithmetic.isa = isa;
  graph.arithmetic.threads = threads;
  Sizes sizes;
  for (Op const& op : graph.ops)
    sizes[op.name] = workspace_bytes({graph.tensors, graph.chunks, graph.arithmetic}, op);
  return sizes;
}

Config bf16_config() {
  auto config = tiny_config();
  config.precision = Precision::bf16;
  config.optim.gradients = Precision::bf16;
  return config;
}

TEST(Workspaces, of_a_device_follow_from_shapes_and_the_architecture_alone) {
  auto const one = sizes_of("sm_90", 1);
  EXPECT_EQ(sizes_of("sm_90", 8), one);
  EXPECT_EQ(sizes_of("sm_120", 1), one);
  EXPECT_NE(sizes_of("sm_86", 1), one);
  auto graph = tiny_training_graph(tiny_config());
  for (auto const& isa : {host::matmul_isa(), std::string(host::kPortable)}) {
    graph.arithmetic.isa = isa;
    KernelContext const context{graph.tensors, graph.chunks, graph.arithmetic};
    for (Op const& op : graph.ops)
      EXPECT_EQ(workspace_bytes("sm_90", context, op), one.at(op.name)) << isa << ": " << op.name;
  }
}

TEST(Workspaces, of_products_are_those_that_nvidia_recommends) {
  auto const graph = tiny_training_graph(tiny_config());
  KernelContext const context{graph.tensors, graph.chunks, graph.arithmetic};
  int products = 0;
  for (Op const& op : graph.ops) {
    if (op.kind != OpKind::matmul) continue;
    ++products;
    EXPECT_EQ(workspace_bytes("sm_80", context, op), 4 * kMib);
    EXPECT_EQ(workspace_bytes("sm_89", context, op), 4 * kMib);
    EXPECT_EQ(workspace_bytes("sm_90", context, op), 32 * kMib);
    EXPECT_EQ(workspace_bytes("sm_100", context, op), 32 * kMib);
  }
  EXPECT_GT(products, 0);
}

// The head of `config` on sm_80, less its product's workspace.
std::int64_t head_bytes(Config const& config) {
  auto const graph = tiny_training_graph(config);
  KernelContext const context{graph.tensors, graph.chunks, graph.arithmetic};
  for (Op const& op : graph.ops)
    if (op.kind == OpKind::lm_head_loss_backward)
      return workspace_bytes("sm_80", context, op) - 4 * kMib;
  return -1;
}

TEST(Workspaces, of_the_head_hold_a_chunk_of_logits_and_what_bf16_rounds_later) {
  auto const graph = tiny_training_graph(tiny_config());
  auto const rows =
      std::min(graph.arithmetic.loss_chunk, graph.arithmetic.micro * graph.arithmetic.sequence);
  auto const elements = rows * round_up<std::int64_t>(kTinyVocab, 64);
  auto const hidden = tiny_config().model.hidden;
  EXPECT_EQ(head_bytes(tiny_config()), round_up<std::int64_t>(4 * elements, 256));
  EXPECT_EQ(head_bytes(bf16_config()), round_up<std::int64_t>(4 * elements, 256) +
                                           round_up<std::int64_t>(2 * elements, 256) +
                                           round_up<std::int64_t>(4 * kTinyVocab * hidden, 256));
}

TEST(Workspaces, of_the_host_are_those_of_its_kernels) {
  auto const graph = tiny_training_graph(tiny_config());
  for (auto const& isa : {host::matmul_isa(), std::string(host::kPortable)}) {
    auto arithmetic = graph.arithmetic;
    arithmetic.isa = isa;
    KernelContext const context{graph.tensors, graph.chunks, arithmetic};
    for (Op const& op : graph.ops) {
      auto const bytes = host::kernel(op.kind).workspace_bytes;
      EXPECT_EQ(workspace_bytes(context, op), bytes ? bytes(context, op) : 0) << op.name;
      EXPECT_EQ(workspace_bytes(kHostTarget, context, op), workspace_bytes(context, op));
    }
  }
}

}  // namespace
}  // namespace spillway::test::kernels_workspaces_test
