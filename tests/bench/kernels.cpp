// Compute-bound kernels at GPT-2 124M's sizes, 2048 tokens, on all threads:
//   build/bin/spillway_bench_kernels --benchmark_filter=attention
// Google Benchmark's time is the caller's wall time; `FLOPS` counts what is mathematically needed
// (half of the scores under a causal mask, five products in attention's backward).
#include <benchmark/benchmark.h>

#include <string>

#include "tests/bench/bench.hpp"
#include "tests/bench/memory_kernels.hpp"

namespace spillway {
namespace {

constexpr std::int64_t batch = 4, sequence = 512, rows = batch * sequence;
constexpr std::int64_t hidden = 768, heads = 12, vocab = 50257;

// m x k times k x n; `b_transposed` as in dx = dy w^T, `a_transposed` as in dw = x^T dy (to fp32).
struct ProductSizes {
  std::int64_t m, k, n;
  bool a_transposed, b_transposed;
};

void matmul(benchmark::State& state, DType type, ProductSizes s) {
  Bench bench;
  auto const a = bench.tensor(type, s.a_transposed ? Shape{s.k, s.m} : Shape{s.m, s.k});
  auto const b = bench.tensor(type, s.b_transposed ? Shape{s.n, s.k} : Shape{s.k, s.n});
  auto const c = bench.tensor(s.a_transposed ? DType::f32 : type, {s.m, s.n});
  bench.fill(a, 1);
  bench.fill(b, 1);
  bench.run(state, OpKind::matmul,
            {s.a_transposed ? transposed(a) : a, s.b_transposed ? transposed(b) : b, {}, {}}, {c},
            {},
            2.0 * static_cast<double>(s.m) * static_cast<double>(s.k) * static_cast<double>(s.n));
}

// Arguments: rows per tile, tokens per sequence.
void attention(benchmark::State& state, DType type, bool backward) {
  Bench bench;
  auto const tokens = state.range(1), sequences = rows / tokens;
  auto const qkv = bench.tensor(type, {rows, 3 * hidden});
  auto const part = [](View const& all, int i) { return columns(all, i * hidden, hidden); };
  auto const o = bench.tensor(type, {rows, hidden});
  auto const lse = bench.tensor(DType::f32, {sequences, heads, tokens});
  bench.fill(qkv, 1);
  AttentionAttributes const attributes{.batch = sequences,
                                       .queries = tokens,
                                       .keys = tokens,
                                       .heads = heads,
                                       .kv_heads = heads,
                                       .head_size = hidden / heads,
                                       .causal = true,
                                       .scale = 0.125,
                                       .tile = state.range(0)};
  double const product = 2.0 * rows * static_cast<double>(tokens) / 2 * hidden;  // q k^T, p v, ...
  if (!backward)
    return bench.run(state, OpKind::attention,
                     {part(qkv, 0), part(qkv, 1), part(qkv, 2), {}, {}, {}, {}, {}}, {o, lse},
                     attributes, 2 * product);
  auto const d_o = bench.tensor(type, {rows, hidden}), dqkv = bench.tensor(type, qkv.shape);
  bench.fill(d_o, 1);
  bench.run(state, OpKind::attention_backward,
            {part(qkv, 0), part(qkv, 1), part(qkv, 2), o, lse, d_o, {}, {}, {}, {}},
            {part(dqkv, 0), part(dqkv, 1), part(dqkv, 2), {}}, attributes, 5 * product);
}

void lm_head(benchmark::State& state, DType type, DType gradient, bool backward) {
  Bench bench;
  auto const x = bench.tensor(type, {rows, hidden}), w = bench.tensor(type, {vocab, hidden});
  auto const targets = bench.tensor(DType::i32, {rows}), weights = bench.tensor(DType::f32, {rows});
  auto const losses = bench.tensor(DType::f32, {rows}), loss = bench.tensor(DType::f64, {2});
  bench.fill(x, 1);
  bench.fill(w, 0.02f);
  bench.fill(weights, 1);
  LmHeadAttributes const attributes{state.range(0)};
  double const product = 2.0 * rows * hidden * vocab;
  if (!backward)
    return bench.run(state, OpKind::lm_head_loss, {x, w, targets, weights, {}}, {losses, loss},
                     attributes, product);
  auto const dx = bench.tensor(type, {rows, hidden}), dw = bench.tensor(gradient, {vocab, hidden});
  bench.run(state, OpKind::lm_head_loss_backward, {x, w, targets, weights, {}},
            {losses, loss, dx, dw, {}}, attributes, 3 * product);
}

void register_all(DType type) {
  using benchmark::RegisterBenchmark;
  auto const add = [&](std::string const& what, auto const& function, auto... arguments) {
    return RegisterBenchmark((what + "/" + std::string(name(type))).c_str(),
                             [=](benchmark::State& state) { function(state, type, arguments...); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  };
  add("matmul/forward_qkv", matmul, ProductSizes{rows, hidden, 3 * hidden, false, false});
  add("matmul/forward_fc", matmul, ProductSizes{rows, hidden, 4 * hidden, false, false});
  add("matmul/dx_fc", matmul, ProductSizes{rows, 4 * hidden, hidden, false, true});
  add("matmul/dw_fc", matmul, ProductSizes{hidden, rows, 4 * hidden, true, false});
  add("attention", attention, false)->ArgsProduct({{128, 256, 512}, {sequence, 2 * sequence}});
  add("attention_backward", attention, true)
      ->ArgsProduct({{128, 256, 512}, {sequence, 2 * sequence}});
  add("lm_head_loss", lm_head, DType::f32, false)->Arg(512)->Arg(1024);
  add("lm_head_loss_backward", lm_head, DType::f32, true)->Arg(512)->Arg(1024);
  if (type == DType::bf16)
    add("lm_head_loss_backward_bf16_gradients", lm_head, DType::bf16, true)->Arg(512);
}

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  for (auto const type : {spillway::DType::bf16, spillway::DType::f32}) {
    spillway::register_all(type);
    spillway::register_memory_kernels(type);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
