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
#include "tests/unit/kernels/every_case.hpp"

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
using Policy = Kokkos::RangePolicy<host::Space>;

TEST(KernelContract, the_watch_sees_a_kernel_on_the_default_instance) {
  auto const other = test::other_instance();
  if (host::instance_of(*other).impl_instance_id() == host::Space{}.impl_instance_id())
    GTEST_SKIP() << "this backend gives all its instances one number";
  KernelWatch const watch(*other);
  Kokkos::parallel_for("spillway::touch", Policy(host::Space{}, 0, 1), Touch{});
  EXPECT_EQ(watch.stray(), "spillway::touch");
}

TEST(KernelContract, the_watch_sees_a_foreign_label) {
  auto const exec = test::other_instance();
  KernelWatch const watch(*exec);
  Kokkos::parallel_for("touch", Policy(host::instance_of(*exec), 0, 1), Touch{});
  EXPECT_EQ(watch.stray(), "touch");
  EXPECT_EQ(watch.launches(), 1);
}

TEST(KernelContract, launching_allocates_nothing) {
  KernelHarness h;
  int before = 0, during = 0;
  h.on_launch([&](bool begins) {
    begins ? void(before = allocations) : void(during += allocations - before);
  });
  for (auto const& [kind, inputs, outputs, attributes, in_place] : test::every_case(h)) {
    h.op(kind, inputs, outputs, attributes, in_place);
    during = 0;
    h.run(host::kernel(kind));
    EXPECT_EQ(during, 0) << name(kind);
  }
}

TEST(KernelContract, launching_on_a_pool_allocates_nothing) {
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
  h.run(host::kernel(OpKind::accumulate));
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
TEST(KernelContract, what_is_not_finite_shows_in_a_result) {
  KernelHarness h;
  for (auto const& [kind, inputs, outputs, attributes, in_place] : test::every_case(h)) {
    for (auto const& input : inputs) {
      bool const is_control = input.shape == Shape{kControlWords};
      if (!is_float(h, input) || is_control)
        continue;  // NaN in a control word means: change nothing
      for (auto const& output : outputs)
        if (is_float(h, output)) h.fill_normal(output, 1);
      fill(h, input, std::numeric_limits<double>::quiet_NaN());
      h.op(kind, inputs, outputs, attributes, in_place);
      h.run(host::kernel(kind));
      EXPECT_TRUE(std::ranges::any_of(
          outputs, [&](View const& o) { return is_float(h, o) && any_not_finite(h, o); }))
          << name(kind) << " input " << &input - inputs.data();
      h.fill_normal(input, 1);
    }
  }
}

}  // namespace
}  // namespace spillway::kernels_contract_test
