// What the engine relies on for every memory-bound kernel: launching allocates nothing, and runs on
// the given instance only. Run by the harness; here, that the harness would notice.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

#include "kernels/host_pieces.hpp"
#include "tests/support/kernel_harness.hpp"
#include "tests/support/kernel_watch.hpp"

namespace {

std::atomic<int> allocations{0};  // of the whole program

}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace spillway::kernels_contract_test {
namespace {

using test::KernelHarness;
using test::KernelWatch;

struct Touch {
  KOKKOS_FUNCTION void operator()(int) const {}
};
using Policy = Kokkos::RangePolicy<KernelSpace::Instance>;

TEST(KernelContract, TheWatchSeesAKernelOnTheDefaultInstance) {
  auto const other = test::other_instance();
  if (other.space().instance.impl_instance_id() == KernelSpace::Instance{}.impl_instance_id())
    GTEST_SKIP() << "this backend gives all its instances one number";
  KernelWatch const watch(other);
  Kokkos::parallel_for("spillway::touch", Policy(KernelSpace::Instance{}, 0, 1), Touch{});
  EXPECT_EQ(watch.stray(), "spillway::touch");
}

TEST(KernelContract, TheWatchSeesAForeignLabel) {
  auto const exec = test::other_instance();
  KernelWatch const watch(exec);
  Kokkos::parallel_for("touch", Policy(exec.space().instance, 0, 1), Touch{});
  EXPECT_EQ(watch.stray(), "touch");
  EXPECT_EQ(watch.launches(), 1);
}

// One op of every memory-bound kind, with every operand that it may have.
struct Case {
  OpKind kind;
  std::vector<View> inputs, outputs;
  Attributes attributes = {};
  std::vector<int> in_place = {};
};

std::vector<Case> every_case(KernelHarness& h) {
  auto const elements = h.chunk({9001, 83}).elements;
  auto const bf = [&](Shape shape) { return h.tensor(DType::bf16, std::move(shape)); };
  auto const f32 = [&](Shape shape) { return h.tensor(DType::f32, std::move(shape)); };
  auto const a = bf({38, 83}), b = bf({38, 83}), c = bf({38, 83}), d = bf({38, 83}),
             gamma = bf({83});
  auto const rows = f32({38}), rows2 = f32({38}), g = f32({elements}), sums = f32({83});
  auto const sums2 = f32({83}), parts = f32({2, elements}), words = f32({300, 83});
  auto const m = f32({elements}), v = f32({elements}), places = f32({40, 83}), kinds = f32({2, 83});
  auto const parameter = bf({elements}), row = bf({1, 83}), beta = bf({83});
  auto const table = bf({300, 83}), relative = bf({32, 4}), distances = f32({4, 39});
  auto const tokens = h.tensor(DType::i32, {38}), position = h.tensor(DType::i32, {1});
  auto const samples = h.tensor(DType::i64, {2}), rest = h.tensor(DType::i16, {elements});
  auto const norm = h.tensor(DType::f64, {1}), control = h.tensor(DType::f64, {kControlWords});
  for (auto const& view :
       {a, b, gamma, beta, rows, rows2, g, parts, m, v, parameter, table, relative, distances})
    h.fill_normal(view, 1);
  h.fill_integers(tokens, 0, 300);
  h.fill_integers(samples, 0, 100);
  h.set(position, 0, 36);
  h.set_all(control, {1, 1, 1e-3, 0.1, 0.05, 0, 0, 0});
  return {
      {OpKind::add, {a, b}, {c}},
      {OpKind::accumulate, {g}, {m}},
      {OpKind::tree_sum, {parts}, {g}},
      {OpKind::activation, {a}, {c}, ActivationAttributes{}},
      {OpKind::activation_backward, {a, b}, {c}, ActivationAttributes{}},
      {OpKind::gated, {a, b}, {c}, ActivationAttributes{}},
      {OpKind::gated_backward, {a, b, a}, {c, d}, ActivationAttributes{}},
      {OpKind::rope, {a, tokens}, {c}, RopeAttributes{19, 2, 40}},
      {OpKind::relative_bias, {relative}, {distances}, RelativeBiasAttributes{20}},
      {OpKind::relative_bias_backward, {distances}, {relative}, RelativeBiasAttributes{20}},
      {OpKind::select_row, {a, position}, {row}},
      {OpKind::store_rows, {row, position}, {b}, {}, {0}},
      {OpKind::scale, {a}, {c}, ScaleAttributes{0.5}},
      {OpKind::column_sum, {a}, {sums}},
      {OpKind::embed, {tokens, table, table, tokens, tokens, table}, {c}, EmbedAttributes{19}},
      {OpKind::embed_backward,
       {tokens, a, tokens, tokens},
       {words, places, kinds},
       EmbedAttributes{19},
       {0}},
      {OpKind::layernorm, {a, gamma, beta}, {c, rows, rows2}, NormAttributes{1e-5}},
      {OpKind::layernorm_backward, {b, a, gamma, rows, rows2, a}, {c, sums, sums2}},
      {OpKind::rmsnorm, {a, gamma}, {c, rows}, NormAttributes{1e-5}},
      {OpKind::rmsnorm_backward, {b, a, gamma, rows, a}, {c, sums}},
      {OpKind::dropout, {a, samples}, {c}, DropoutAttributes{0.5, 19, 1, 2}},
      {OpKind::square_norm, {g}, {norm}, UpdateRange{}},
      {OpKind::adamw, {g, control}, {parameter, rest, m, v}, AdamWAttributes{}},
  };
}

TEST(KernelContract, LaunchingAllocatesNothing) {
  KernelHarness h;
  int before = 0, during = 0;
  h.on_launch([&](bool begins) {
    begins ? void(before = allocations) : void(during += allocations - before);
  });
  for (auto const& [kind, inputs, outputs, attributes, in_place] : every_case(h)) {
    h.op(kind, inputs, outputs, attributes, in_place);
    during = 0;
    h.run(kernel(kind));
    EXPECT_EQ(during, 0) << name(kind);
  }
}

TEST(KernelContract, LaunchingOnAPoolAllocatesNothing) {
  KernelHarness h;
  HostPool pool(3);
  h.share_reference(pool);
  int before = 0, during = 0;
  h.on_launch([&](bool begins) {
    begins ? void(before = allocations) : void(during += allocations - before);
  });
  auto const gradient = h.tensor(DType::f32, {5 * kPieceElements + 7});
  auto const sum = h.tensor(DType::f32, gradient.shape);
  h.op(OpKind::accumulate, {gradient}, {sum});
  h.run(kernel_accumulate());
  EXPECT_EQ(during, 0);
}

bool is_float(KernelHarness& h, View const& view) {
  auto const dtype = h.graph().tensors[view.tensor].dtype;
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f64;
}

void fill(KernelHarness& h, View const& view, double value) {
  h.set_all(view, std::vector<double>(static_cast<std::size_t>(element_count(view.shape)), value));
}

bool any_not_finite(KernelHarness const& h, View const& view) {
  return !std::ranges::all_of(h.results(view), [](double x) { return std::isfinite(x); });
}

// A step that overflows is known by its loss and its norm: no kernel may make a value finite again.
TEST(KernelContract, WhatIsNotFiniteShowsInAResult) {
  KernelHarness h;
  for (auto const& [kind, inputs, outputs, attributes, in_place] : every_case(h)) {
    for (auto const& input : inputs) {
      bool const is_control = kind == OpKind::adamw && &input == &inputs[1];
      if (!is_float(h, input) || is_control)
        continue;  // NaN in a control word means: change nothing
      for (auto const& output : outputs)
        if (is_float(h, output)) h.fill_normal(output, 1);
      fill(h, input, std::numeric_limits<double>::quiet_NaN());
      h.op(kind, inputs, outputs, attributes, in_place);
      h.run(kernel(kind));
      EXPECT_TRUE(std::ranges::any_of(
          outputs, [&](View const& o) { return is_float(h, o) && any_not_finite(h, o); }))
          << name(kind) << " input " << &input - inputs.data();
      h.fill_normal(input, 1);
    }
  }
}

}  // namespace
}  // namespace spillway::kernels_contract_test
