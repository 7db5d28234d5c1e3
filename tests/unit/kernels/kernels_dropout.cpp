// dropout against its serial reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/kernel_harness.hpp"
#include "tests/unit/kernels/kernel_rows.hpp"

namespace spillway::kernels_dropout_test {
namespace {

using test::KernelHarness, test::KernelRows;

struct Dropout {
  KernelHarness h;
  View x, samples, y;

  Dropout(DType t, double p, std::int64_t columns, std::uint64_t seed = (1ull << 40) + 3)
      : x(h.tensor(t, {3 * 19, columns})),
        samples(h.tensor(DType::i64, {3})),
        y(h.tensor(t, {3 * 19, columns})) {
    h.fill_normal(x, 1);
    h.set_all(samples, {7, 0x1p33 + 1, 12});
    h.op(OpKind::dropout, {x, samples}, {y}, DropoutAttributes{p, 19, seed, 11});
    h.run(host::kernel(OpKind::dropout));
  }
};

TEST_P(KernelRows, dropout_is_the_same_by_blocks_and_by_elements) {
  for (std::int64_t const columns : {1, 83, 1024}) {  // partial blocks, whole blocks, several tiles
    Dropout d(T(), 0.3, columns);
    d.h.expect_close(d.y, 0, 0);
  }
}

TEST_P(KernelRows, dropout_keeps_the_expected_share_and_nothing_is_lost_at_zero) {
  Dropout d(T(), 0.25, 1024);
  auto const y = d.h.results(d.y);
  auto const zeros = static_cast<double>(std::count(y.begin(), y.end(), 0.0));
  EXPECT_NEAR(zeros / static_cast<double>(y.size()), 0.25, 0.01);
  Dropout none(T(), 0, 83);
  EXPECT_EQ(none.h.results(none.y), none.h.contents(none.x));
}

TEST_P(KernelRows, dropout_divides_what_it_keeps_by_the_share_that_stays) {
  Dropout d(T(), 0.75, 83);
  auto const n = static_cast<std::size_t>(3 * 19 * 83);
  d.h.set_all(d.x, std::vector<double>(n, 1.5));
  d.h.run(host::kernel(OpKind::dropout));
  for (auto const& y : {d.h.results(d.y), d.h.serial_results(d.y)}) {
    auto const kept = static_cast<std::size_t>(std::count(y.begin(), y.end(), 6.0));
    auto const dropped = static_cast<std::size_t>(std::count(y.begin(), y.end(), 0.0));
    EXPECT_EQ(kept + dropped, n);
    EXPECT_LT(kept, dropped);
    EXPECT_GT(kept, 0u);
  }
}

TEST_P(KernelRows, dropout_follows_every_bit_of_the_seed) {
  Dropout a(T(), 0.5, 83, 1ull << 63), b(T(), 0.5, 83, (1ull << 63) + 1), c(T(), 0.5, 83, 0);
  EXPECT_NE(a.h.results(a.y), b.h.results(b.y));
  EXPECT_NE(a.h.results(a.y), c.h.results(c.y));
}

TEST_P(KernelRows, dropout_follows_the_sample_not_its_place_in_the_batch) {
  Dropout d(T(), 0.5, 83);
  auto const first = d.h.results(d.y);
  auto x = d.h.contents(d.x);
  auto const sample = static_cast<std::ptrdiff_t>(19 * 83);
  std::swap_ranges(x.begin(), x.begin() + sample, x.begin() + 2 * sample);
  d.h.set_all(d.x, x);
  d.h.set_all(d.samples, {12, 0x1p33 + 1, 7});
  d.h.run(host::kernel(OpKind::dropout));
  auto second = d.h.results(d.y);
  std::swap_ranges(second.begin(), second.begin() + sample, second.begin() + 2 * sample);
  EXPECT_EQ(second, first);
}

}  // namespace
}  // namespace spillway::kernels_dropout_test
