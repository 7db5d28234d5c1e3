// Memory-bound kernels at GPT-2 124M's sizes, 4 sequences of 512 tokens, on all threads, and the
// host lane's ("host_") on one and two:
//   build/bin/spillway_bench_kernels --benchmark_filter=memory
// `GB/s` counts the bytes that must move between memory and cores, each operand once; "triad" is
// STREAM's, which is what the machine gives.
#include "tests/bench/memory_kernels.hpp"

#include <string>

#include "graph/gradient_slice.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/portable/launch.hpp"
#include "tests/bench/bench.hpp"

namespace spillway {
namespace {

constexpr std::int64_t sequence = 512, rows = 4 * sequence;
constexpr std::int64_t hidden = 768, vocab = 50257;

struct Triad {
  float const* b;
  float const* c;
  float* a;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { a[i] = b[i] + 3.0f * c[i]; }
};

void triad(benchmark::State& state) {
  constexpr std::int64_t n = std::int64_t{64} << 20;
  Bench bench;
  auto* const a = bench.floats(n);
  auto const *const b = bench.floats(n), *const c = bench.floats(n);
  auto const exec = host::make_exec(nullptr);
  for (auto _ : state) {
    host::for_each_element(*exec, "spillway::triad", n, Triad{b, c, a});
    exec->fence();
  }
  using benchmark::Counter;
  state.counters["GB/s"] = Counter(12e-9 * n, Counter::kIsIterationInvariantRate);
}

// One output of `columns` from as many inputs of its shape as the kind takes.
void elementwise(benchmark::State& state, DType type, OpKind kind, int inputs,
                 std::int64_t columns) {
  Bench bench;
  Op op = make_op(kind, {}, {});
  if (kind != OpKind::add) op.attributes = ActivationAttributes{};
  for (int i = 0; i < inputs; ++i) {
    op.inputs.push_back(bench.tensor(type, {rows, columns}));
    bench.fill(op.inputs.back(), 3);
  }
  op.outputs.push_back(bench.tensor(type, {rows, columns}));
  bench.stream(state, op, {}, (inputs + 1) * rows * columns * size_bytes(type));
}

// gate and up are the halves of one product, as in Llama.
void gated(benchmark::State& state, DType type, Activation form, bool backward) {
  Bench bench;
  constexpr std::int64_t n = 4 * hidden;
  auto const x = bench.tensor(type, {rows, 2 * n}), y = bench.tensor(type, {rows, n});
  auto const dx = bench.tensor(type, x.shape);
  bench.fill(x, 3);
  bench.fill(y, 1);
  auto const gate = columns(x, 0, n), up = columns(x, n, n);
  ActivationAttributes const attributes{form};
  auto const op = backward ? make_op(OpKind::gated_backward, {gate, up, y},
                                     {columns(dx, 0, n), columns(dx, n, n)}, attributes)
                           : make_op(OpKind::gated, {gate, up}, {y}, attributes);
  bench.stream(state, op, {}, (backward ? 5 : 3) * rows * n * size_bytes(type));
}

// A fused product of 12 heads of q, 4 of k and 4 of v.
void rope(benchmark::State& state, DType type) {
  Bench bench;
  auto const x = bench.tensor(type, {rows, 20 * 64}), y = bench.tensor(type, x.shape);
  bench.fill(x, 1);
  auto const op = make_op(OpKind::rope, {x, {}}, {y},
                          RopeAttributes{.sequence = sequence, .heads = 16, .head_size = 64});
  bench.stream(state, op, {}, 2 * rows * 20 * 64 * size_bytes(type));
}

enum class On : std::uint8_t { compute_lane, host_lane };

// The host lane's threads are the benchmark's argument.
void place(Bench& bench, benchmark::State& state, On lane) {
  if (lane == On::host_lane) bench.run_on_host_lane(static_cast<int>(state.range(0)));
}

void accumulate(benchmark::State& state, DType type) {
  Bench bench;
  std::int64_t const n = state.range(0);
  auto const fresh = bench.tensor(type, {n}), sum = bench.tensor(type, {n});
  bench.stream(state, make_op(OpKind::accumulate, {fresh}, {sum}), {}, 3 * n * size_bytes(type));
}

void tree_sum(benchmark::State& state, DType type) {
  Bench bench;
  std::int64_t const n = state.range(0), ranks = 2;
  auto const slice = gradient_slice(n, 0, ranks).count;
  auto const parts = bench.tensor(type, {ranks, slice}), gradient = bench.tensor(type, {n});
  bench.stream(state, make_op(OpKind::tree_sum, {parts}, {gradient}), {},
               (ranks + 1) * slice * size_bytes(type));
}

void dropout(benchmark::State& state, DType type) {
  Bench bench;
  auto const x = bench.tensor(type, {rows, hidden}), y = bench.tensor(type, x.shape);
  auto const samples = bench.tensor(DType::i64, {rows / sequence});
  auto const op =
      make_op(OpKind::dropout, {x, samples}, {y}, DropoutAttributes{0.1, sequence, 1, 2});
  bench.stream(state, op, {}, 2 * rows * hidden * size_bytes(type));
}

void column_sum(benchmark::State& state, DType type) {
  Bench bench;
  std::int64_t const columns = state.range(0);
  auto const dy = bench.tensor(type, {rows, columns}), db = bench.tensor(DType::f32, {columns});
  bench.stream(state, make_op(OpKind::column_sum, {dy}, {db}), {},
               rows * columns * size_bytes(type));
}

void layernorm(benchmark::State& state, DType type) {
  Bench bench;
  auto const x = bench.tensor(type, {rows, hidden}), y = bench.tensor(type, x.shape);
  auto const gamma = bench.tensor(type, {hidden}), beta = bench.tensor(type, {hidden});
  auto const mean = bench.tensor(DType::f32, {rows}), rstd = bench.tensor(DType::f32, {rows});
  bench.fill(x, 1);
  auto const op = make_op(OpKind::layernorm, {x, gamma, beta}, {y, mean, rstd}, NormAttributes{});
  bench.stream(state, op, {}, 2 * rows * hidden * size_bytes(type));
}

void layernorm_backward(benchmark::State& state, DType type) {
  Bench bench;
  auto const matrix = [&] { return bench.tensor(type, {rows, hidden}); };
  auto const dy = matrix(), x = matrix(), addend = matrix(), dx = matrix();
  auto const gamma = bench.tensor(type, {hidden});
  auto const mean = bench.tensor(DType::f32, {rows}), rstd = bench.tensor(DType::f32, {rows});
  auto const dgamma = bench.tensor(DType::f32, gamma.shape);
  auto const dbeta = bench.tensor(DType::f32, gamma.shape);
  for (auto const& view : {dy, x, addend, gamma}) bench.fill(view, 1);
  auto const op =
      make_op(OpKind::layernorm_backward, {dy, x, gamma, mean, rstd, addend}, {dx, dgamma, dbeta});
  bench.stream(state, op, {}, 4 * rows * hidden * size_bytes(type));
}

void rmsnorm(benchmark::State& state, DType type) {
  Bench bench;
  auto const x = bench.tensor(type, {rows, hidden}), y = bench.tensor(type, x.shape);
  auto const gamma = bench.tensor(type, {state.range(0)});
  auto const rstd = bench.tensor(DType::f32, {rows, hidden / state.range(0)});
  bench.fill(x, 1);
  auto const op = make_op(OpKind::rmsnorm, {x, gamma}, {y, rstd}, NormAttributes{});
  bench.stream(state, op, {}, 2 * rows * hidden * size_bytes(type));
}

void rmsnorm_backward(benchmark::State& state, DType type) {
  Bench bench;
  auto const matrix = [&] { return bench.tensor(type, {rows, hidden}); };
  auto const dy = matrix(), x = matrix(), addend = matrix(), dx = matrix();
  auto const gamma = bench.tensor(type, {state.range(0)});
  auto const rstd = bench.tensor(DType::f32, {rows, hidden / state.range(0)});
  auto const dgamma = bench.tensor(DType::f32, gamma.shape);
  for (auto const& view : {dy, x, addend, gamma}) bench.fill(view, 1);
  auto const op = make_op(OpKind::rmsnorm_backward, {dy, x, gamma, rstd, addend}, {dx, dgamma});
  bench.stream(state, op, {}, 4 * rows * hidden * size_bytes(type));
}

void embed(benchmark::State& state, DType type, bool backward) {
  Bench bench;
  auto const tokens = bench.tensor(DType::i32, {rows});
  auto const x = bench.tensor(type, {rows, hidden});
  bench.fill_tokens(tokens, vocab);
  auto const weights = backward ? DType::f32 : type;
  auto const wte = bench.tensor(weights, {vocab, hidden});
  auto const wpe = bench.tensor(weights, {sequence, hidden});
  EmbedAttributes const attributes{sequence};
  auto op = backward
                ? make_op(OpKind::embed_backward, {tokens, x, {}, {}}, {wte, wpe, {}}, attributes)
                : make_op(OpKind::embed, {tokens, wte, wpe, {}, {}, {}}, {x}, attributes);
  if (backward) op.in_place = {0};
  auto const places = sequence * hidden * size_bytes(weights);
  auto const words = (backward ? 2 : 1) * rows * hidden * size_bytes(weights);
  bench.stream(state, op, {}, rows * hidden * size_bytes(type) + words + places);
}

// The parameters that updates and norms walk over: of a layer, or wte.
Chunk make_chunk(View const& all, bool block) {
  Chunk chunk;
  auto const add = [&](std::int64_t n) {
    Parameter parameter;
    parameter.view = {all.tensor, chunk.elements, {n}, {1}};
    chunk.elements += n;
    chunk.parameters.push_back(parameter);
  };
  if (!block) {
    add(vocab * hidden);
    return chunk;
  }
  constexpr std::int64_t h = hidden;
  for (auto const n : {h, h, 3 * h * h, 3 * h, h * h, h, h, h, 4 * h * h, 4 * h, 4 * h * h, h})
    add(n);
  return chunk;
}

std::int64_t chunk_elements(bool block) {
  return block ? (12 * hidden + 13) * hidden : vocab * hidden;
}

void square_norm(benchmark::State& state, bool block, On lane) {
  Bench bench;
  place(bench, state, lane);
  auto const n = chunk_elements(block);
  auto const gradient = bench.tensor(DType::f32, {n}), norm = bench.tensor(DType::f64, {1});
  bench.fill(gradient, 1);
  auto op = make_op(OpKind::square_norm, {gradient}, {norm}, UpdateRange{});
  op.chunk = 0;
  bench.stream(state, op, {make_chunk(gradient, block)}, n * size_bytes(DType::f32));
}

void adamw(benchmark::State& state, DType type, DType moments, bool block, On lane) {
  Bench bench;
  place(bench, state, lane);
  auto const n = chunk_elements(block);
  bool const split = type == DType::bf16;
  auto const gradient = bench.tensor(DType::f32, {n});
  auto const control = bench.tensor(DType::f64, {kControlWords});
  std::vector<View> outputs{bench.tensor(type, {n}),
                            split ? bench.tensor(DType::i16, {n}) : View{}};
  for (int i = 0; i < 2; ++i) outputs.push_back(bench.tensor(moments, {n}));
  bench.fill_control(control);
  bench.fill(gradient, 1);
  auto op = make_op(OpKind::adamw, {gradient, control}, outputs, AdamWAttributes{});
  op.chunk = 0;
  // The gradient is read; the master and both moments are read and written.
  bench.stream(state, op, {make_chunk(gradient, block)},
               n * (3 * size_bytes(DType::f32) + 4 * size_bytes(moments)));
}

template <class... Arguments>
auto* add(std::string const& what, Arguments... arguments) {
  return benchmark::RegisterBenchmark(("memory/" + what).c_str(), arguments...)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

void register_fp32_gradients() {
  add("triad", triad);
  for (bool const block : {true, false})
    add(block ? "square_norm/block" : "square_norm/wte", square_norm, block, On::compute_lane);
  add("host_square_norm/wte", square_norm, false, On::host_lane)->Arg(1)->Arg(2);
}

}  // namespace

void register_memory_kernels(DType type) {
  if (type == DType::f32) register_fp32_gradients();
  auto const suffix = std::string("/").append(name(type));
  add("gelu" + suffix, elementwise, type, OpKind::activation, 1, 4 * hidden);
  add("gelu_backward" + suffix, elementwise, type, OpKind::activation_backward, 2, 4 * hidden);
  for (auto const form : {Activation::silu, Activation::gelu_tanh, Activation::relu}) {
    auto const of = std::to_string(static_cast<int>(form)) + suffix;
    add("gated/" + of, gated, type, form, false);
    add("gated_backward/" + of, gated, type, form, true);
  }
  add("rope" + suffix, rope, type);
  add("add" + suffix, elementwise, type, OpKind::add, 2, hidden);
  add("accumulate" + suffix, accumulate, type)->Arg(chunk_elements(true));
  add("tree_sum" + suffix, tree_sum, type)->Arg(chunk_elements(true));
  add("dropout" + suffix, dropout, type);
  for (auto const columns : {hidden, 3 * hidden, 4 * hidden})
    add("column_sum" + suffix, column_sum, type)->Arg(columns);
  add("layernorm" + suffix, layernorm, type);
  add("layernorm_backward" + suffix, layernorm_backward, type);
  for (auto const group : {hidden, hidden / 12}) {  // rows, heads
    add("rmsnorm" + suffix, rmsnorm, type)->Arg(group);
    add("rmsnorm_backward" + suffix, rmsnorm_backward, type)->Arg(group);
  }
  add("embed" + suffix, embed, type, false);
  add("embed_backward" + suffix, embed, type, true);
  for (bool const block : {true, false})
    for (auto const moments : {DType::f32, DType::bf16})
      add((block ? "adamw/block" : "adamw/wte") + suffix + "/" + std::string(name(moments)), adamw,
          type, moments, block, On::compute_lane);
  add("host_adamw/wte" + suffix, adamw, type, DType::f32, false, On::host_lane)->Arg(1)->Arg(2);
}

}  // namespace spillway
