// The matrix products of one GPT-2 124M step and nothing else: what the rest of a step is held to.
//   build/bin/spillway_bench_products bf16 2048 5     # type, tokens a step, rounds
// Prints, alternating, the median step of oneDNN and of the products that training uses: with
// weights [in, out], as GPT-2's, and [out, in], as nn.Linear's.
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include "kernels/product.hpp"

namespace spillway {
namespace {

enum class Orientation { in_out, out_in };

struct Sizes {
  std::int64_t rows, depth, columns, times;
};

constexpr std::int64_t kLayers = 12, kHidden = 768, kVocab = 50257;

// y = x w, dx = dy w^T and dw = x^T dy of every weight.
std::vector<Sizes> weights(std::int64_t tokens) {
  return {{tokens, kHidden, 3 * kHidden, kLayers},
          {tokens, kHidden, kHidden, kLayers},
          {tokens, kHidden, 4 * kHidden, kLayers},
          {tokens, 4 * kHidden, kHidden, kLayers},
          {tokens, kHidden, kVocab, 1}};
}

std::vector<MatmulShape> products(Sizes const& s, DType type, Orientation orientation) {
  auto const x = dense_matrix(type, s.rows, s.depth), y = dense_matrix(type, s.rows, s.columns);
  auto const matrix = [&](DType of) {
    return orientation == Orientation::in_out ? dense_matrix(of, s.depth, s.columns)
                                              : dense_matrix(of, s.columns, s.depth).transposed();
  };
  auto const w = matrix(type);
  return {{.a = x, .b = w, .c = y},
          {.a = y, .b = w.transposed(), .c = x},
          {.a = x.transposed(), .b = y, .c = matrix(DType::f32)}};
}

using Run = std::function<void(MatmulOperands const&)>;

struct Bound {
  Run run;
  std::int64_t workspace_bytes, times;
};

template <class Make>
std::vector<Bound> bind(DType type, std::int64_t tokens, Orientation orientation,
                        Make const& make) {
  std::vector<Bound> all;
  for (auto const& sizes : weights(tokens))
    for (auto const& shape : products(sizes, type, orientation)) {
      auto [run, bytes] = make(shape);
      all.push_back({std::move(run), bytes, sizes.times});
    }
  return all;
}

double step_s(std::vector<Bound> const& products, MatmulOperands const& operands) {
  auto const start = std::chrono::steady_clock::now();
  for (auto const& product : products)
    for (std::int64_t i = 0; i < product.times; ++i) product.run(operands);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void measure(DType type, std::int64_t tokens, int rounds) {
  Exec const exec;
  std::int64_t const threads = exec.concurrency();
  auto const onednn = bind(type, tokens, Orientation::in_out, [&](MatmulShape const& shape) {
    auto const product = std::make_shared<OneDnnMatmul>(shape, threads);
    return std::pair<Run, std::int64_t>([product](auto const& o) { (*product)(o); },
                                        product->workspace_bytes());
  });
  auto const choose = [&](MatmulShape const& shape) {
    auto const product = std::make_shared<Matmul>(shape, threads, false);
    return std::pair<Run, std::int64_t>([product, &exec](auto const& o) { (*product)(exec, o); },
                                        product->workspace_bytes());
  };
  auto const chosen = bind(type, tokens, Orientation::in_out, choose);
  auto const out_in = bind(type, tokens, Orientation::out_in, choose);

  std::int64_t workspace_bytes = 0;
  for (auto const* all : {&onednn, &chosen, &out_in})
    for (auto const& bound : *all)
      workspace_bytes = std::max(workspace_bytes, bound.workspace_bytes);
  auto const largest = std::max(tokens, kHidden) * kVocab * size_bytes(DType::f32);
  using Bytes = Kokkos::View<std::byte*, Kokkos::HostSpace>;
  Bytes const a("a", static_cast<std::size_t>(largest)), b("b", static_cast<std::size_t>(largest));
  Bytes const c("c", static_cast<std::size_t>(largest));
  Bytes const workspace("workspace", static_cast<std::size_t>(workspace_bytes));
  MatmulOperands const operands{a.data(), b.data(), c.data(), nullptr, nullptr, workspace.data()};

  std::vector<double> theirs, ours, ours_out_in;
  for (int round = 0; round <= rounds; ++round) {
    auto const onednn_s = step_s(onednn, operands), chosen_s = step_s(chosen, operands);
    auto const out_in_s = step_s(out_in, operands);
    if (round == 0) continue;  // pages and caches
    theirs.push_back(onednn_s);
    ours.push_back(chosen_s);
    ours_out_in.push_back(out_in_s);
  }
  auto const rate = [&](double s) { return static_cast<double>(tokens) / s; };
  std::printf(
      "{\"type\": \"%s\", \"tokens\": %lld, \"onednn_s\": %.4f, \"products_s\": %.4f, "
      "\"products_out_in_s\": %.4f, \"onednn_tokens_per_s\": %.0f, \"products_tokens_per_s\": "
      "%.0f}\n",
      std::string(name(type)).c_str(), static_cast<long long>(tokens), median(theirs), median(ours),
      median(ours_out_in), rate(median(theirs)), rate(median(ours)));
}

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  auto const type = argc > 1 && std::string_view(argv[1]) == "fp32" ? spillway::DType::f32
                                                                    : spillway::DType::bf16;
  spillway::measure(type, argc > 2 ? std::atoll(argv[2]) : 2048, argc > 3 ? std::atoi(argv[3]) : 5);
}
