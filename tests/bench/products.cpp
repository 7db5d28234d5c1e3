// The matrix products of one micro-batch of an input and nothing else: what the rest of a step is
// held to.
//   build/bin/spillway_bench_products ROUNDS INPUT.yaml [key=value ...]
// model.vocab must be a number. Prints, alternating, the median seconds of oneDNN, where it has all
// of them here, and of the products that training uses. Those inside attention are not run: their
// operations, over those of the others, are printed as `attention_share`.
#include <fmt/core.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/median.hpp"
#include "config/load.hpp"
#include "graph/flops.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/host/product.hpp"
#include "run/prepare.hpp"

namespace spillway {
namespace {

using Run = std::function<void(MatmulOperands const&)>;

struct Bound {
  Run run;
  std::int64_t workspace_bytes, times;
};

struct Product {
  MatmulShape shape;
  std::int64_t times = 0;
};

// Those of the loss are the logits, the gradients of their input and of the head.
std::vector<MatmulShape> products_of(Graph const& graph, Op const& op) {
  auto const layout = [&](std::size_t input) {
    auto const& view = op.inputs[input];
    return matrix_layout(graph.tensors[view.tensor].dtype, view);
  };
  if (op.kind == OpKind::matmul)
    return {{.a = layout(0),
             .b = layout(1),
             .c = matrix_layout(graph.tensors[op.outputs[0].tensor].dtype, op.outputs[0])}};
  if (op.kind != OpKind::lm_head_loss) return {};
  auto const x = layout(0), w = layout(1);
  auto const slopes = dense_matrix(x.dtype, x.rows, w.rows);
  return {{.a = x, .b = w.transposed(), .c = dense_matrix(DType::f32, x.rows, w.rows)},
          {.a = slopes, .b = w, .c = dense_matrix(x.dtype, x.rows, x.columns)},
          {.a = slopes.transposed(), .b = x, .c = dense_matrix(DType::f32, w.rows, w.columns)}};
}

// Like shapes are bound once, and run as often as the graph has them.
std::vector<Product> all_products(Graph const& graph) {
  std::map<std::string, Product> by_shape;
  auto const text = [](MatrixLayout const& m) {
    return fmt::format("{} {} {} {} {} ", name(m.dtype), m.rows, m.columns, m.row_stride,
                       m.column_stride);
  };
  for (auto const& op : graph.ops)
    for (auto const& shape : products_of(graph, op)) {
      auto& product = by_shape[text(shape.a) + text(shape.b) + text(shape.c)];
      product.shape = shape;
      ++product.times;
    }
  std::vector<Product> all;
  for (auto& [key, product] : by_shape) all.push_back(product);
  return all;
}

double attention_share(Graph const& graph, std::vector<Product> const& others) {
  double inside = 0, outside = 0;
  for (auto const& op : graph.ops) {
    if (op.kind == OpKind::attention)
      inside += attention_flops(attributes_of<AttentionAttributes>(op));
    if (op.kind == OpKind::attention_backward)
      inside += attention_backward_flops(attributes_of<AttentionAttributes>(op));
  }
  for (auto const& [shape, times] : others)
    outside += 2.0 * static_cast<double>(times * shape.a.rows * shape.a.columns * shape.b.columns);
  return inside / outside;
}

std::int64_t extent_bytes(MatrixLayout const& m) {
  return ((m.rows - 1) * m.row_stride + (m.columns - 1) * m.column_stride + 1) *
         size_bytes(m.dtype);
}

// Every operand of any product lies at the beginning of one of these.
class Memory {
 public:
  Memory(std::vector<Product> const& products, std::int64_t workspace_bytes)
      : m_workspace(bytes(workspace_bytes)) {
    std::int64_t a = 0, b = 0, c = 0;
    for (auto const& product : products) {
      a = std::max(a, extent_bytes(product.shape.a));
      b = std::max(b, extent_bytes(product.shape.b));
      c = std::max(c, extent_bytes(product.shape.c));
    }
    m_a = bytes(a), m_b = bytes(b), m_c = bytes(c);
  }
  MatmulOperands operands() const {
    return {m_a.data(), m_b.data(), m_c.data(), nullptr, nullptr, m_workspace.data()};
  }

 private:
  using Bytes = Kokkos::View<std::byte*, Kokkos::HostSpace>;
  static Bytes bytes(std::int64_t size) { return {"bytes", static_cast<std::size_t>(size)}; }

  Bytes m_a, m_b, m_c, m_workspace;
};

double step_s(std::vector<Bound> const& products, MatmulOperands const& operands) {
  auto const start = std::chrono::steady_clock::now();
  for (auto const& product : products)
    for (std::int64_t i = 0; i < product.times; ++i) product.run(operands);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Empty where oneDNN lacks one.
std::vector<Bound> by_onednn(std::vector<Product> const& products, std::int64_t threads) try {
  std::vector<Bound> all;
  for (auto const& product : products) {
    auto const bound = std::make_shared<host::OneDnnMatmul>(product.shape, threads);
    all.push_back(
        {[bound](auto const& o) { (*bound)(o); }, bound->workspace_bytes(), product.times});
  }
  return all;
} catch (Error const&) {
  return {};
}

std::vector<Bound> by_ours(std::vector<Product> const& products, Exec const& exec) {
  std::vector<Bound> all;
  for (auto const& product : products) {
    auto const bound = std::make_shared<host::Matmul>(product.shape, exec.concurrency(), false);
    all.push_back({[bound, &exec](auto const& o) { (*bound)(exec, o); }, bound->workspace_bytes(),
                   product.times});
  }
  return all;
}

void measure(int rounds, Config const& config) {
  auto const exec = host::make_exec(nullptr);
  std::int64_t const threads = exec->concurrency();
  auto const choices = choose(config, nullptr, threads, 1);
  auto const graph =
      training_graph(config, config.model.vocab, make_arithmetic(config, choices, 1));
  auto const products = all_products(graph);
  auto const onednn = by_onednn(products, threads), ours = by_ours(products, *exec);
  std::int64_t workspace_bytes = 0;
  for (auto const* all : {&onednn, &ours})
    for (auto const& bound : *all)
      workspace_bytes = std::max(workspace_bytes, bound.workspace_bytes);
  Memory const memory(products, workspace_bytes);

  std::vector<double> onednn_s, ours_s;
  for (int round = 0; round <= rounds; ++round) {
    auto const theirs = step_s(onednn, memory.operands()), mine = step_s(ours, memory.operands());
    if (round == 0) continue;  // pages and caches
    onednn_s.push_back(theirs);
    ours_s.push_back(mine);
  }
  auto const theirs =
      onednn.empty() ? std::string() : fmt::format("\"onednn_s\": {:.4f}, ", median(onednn_s));
  fmt::print("{{{}\"products_s\": {:.4f}, \"attention_share\": {:.4f}}}\n", theirs, median(ours_s),
             attention_share(graph, products));
}

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: {} ROUNDS INPUT.yaml [key=value ...]\n", argv[0]);
    return 2;
  }
  try {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    std::vector<std::string> const overrides(argv + 3, argv + argc);
    spillway::measure(std::stoi(argv[1]), spillway::load_config(argv[2], overrides));
  } catch (std::exception const& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
