// A device's row gives the host's bits. It runs here on the host's teams, of every size they have.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/portable/device_row.hpp"
#include "kernels/portable/host_row.hpp"
#include "tests/support/kokkos_environment.hpp"

namespace spillway::kernels_device_row_test {
namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Member = Kokkos::TeamPolicy<Space>::member_type;

constexpr std::size_t kRows = 7;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The bits of a row's sums and maxima, which follow each other without a pause.
struct Folded {
  std::uint32_t sum, squares, top, bounded_top;
  std::uint64_t wide_sum;

  bool operator==(Folded const&) const = default;
};

template <class Row>
Folded folded(Row const& row, float const* x, std::int64_t columns) {
  auto const value = [=](std::int64_t j) { return x[j]; };
  auto const wide = [=](std::int64_t j) { return 1 / static_cast<double>(x[j]); };
  auto const square = [=](std::int64_t j) { return x[j] * x[j]; };
  Folded f;
  f.sum = std::bit_cast<std::uint32_t>(row.template sum_columns<float>(columns, value));
  f.wide_sum = std::bit_cast<std::uint64_t>(row.template sum_columns<double>(columns, wide));
  f.top = std::bit_cast<std::uint32_t>(row.max_columns(columns, -kInfinity, value));
  f.squares = std::bit_cast<std::uint32_t>(row.template sum_columns<float>(columns, square));
  f.bounded_top = std::bit_cast<std::uint32_t>(row.max_columns(columns, 1e3f, value));
  return f;
}

// Every thread of a row's team notes what it was told.
struct FoldRows {
  float const* x;
  std::int64_t columns;
  Folded* of_threads;

  void operator()(Member const& member) const {
    std::int64_t const row = member.league_rank();
    of_threads[row * member.team_size() + member.team_rank()] =
        folded(DeviceRow<Member>(member), x + row * columns, columns);
  }
};

// Numbers of many sizes: another order of their sum has other bits.
std::vector<float> random_rows(std::int64_t columns) {
  std::vector<float> x(kRows * static_cast<std::size_t>(columns));
  std::uint64_t state = 1;
  for (auto& value : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto const mantissa = static_cast<double>(state >> 40) * 0x1p-23 - 1;
    value = static_cast<float>(std::ldexp(mantissa, static_cast<int>(state >> 33 & 15)));
  }
  return x;
}

template <class TeamSize>
void expect_the_hosts_bits(TeamSize size, std::int64_t columns) {
  auto const x = random_rows(columns);
  auto const policy = row_teams(Space{}, kRows, size);
  // A device gives a team no byte more than was asked for, the host does.
  EXPECT_GE(policy.scratch_size(0), kSumLanes * sizeof(double));
  auto const threads = static_cast<std::size_t>(policy.team_size());
  std::vector<Folded> of_threads(kRows * threads);
  Kokkos::parallel_for("fold", policy, FoldRows{x.data(), columns, of_threads.data()});
  Space{}.fence();
  for (std::size_t i = 0; i < of_threads.size(); ++i) {
    auto const row = static_cast<std::int64_t>(i / threads);
    EXPECT_EQ(of_threads[i], folded(HostRow{}, x.data() + row * columns, columns))
        << "row " << row << ", thread " << i % threads << " of " << threads;
  }
}

class KernelDeviceRow : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Columns, KernelDeviceRow,
                         ::testing::Values(0, 1, 31, 32, 33, 4095, 4096, 10007));

TEST_P(KernelDeviceRow, has_the_hosts_bits_with_a_team_of_any_size) {
  expect_the_hosts_bits(Kokkos::AUTO, GetParam());
  for (int size = 1; size <= Space{}.concurrency(); ++size) {
    SCOPED_TRACE(size);
    expect_the_hosts_bits(size, GetParam());
  }
}

TEST(KernelRowNumbers, show_another_order_of_their_sum) {
  auto x = random_rows(4095);
  auto const before = folded(HostRow{}, x.data(), 4095);
  std::reverse(x.begin(), x.begin() + 4095);
  auto const after = folded(HostRow{}, x.data(), 4095);
  EXPECT_NE(after.sum, before.sum);
  EXPECT_NE(after.wide_sum, before.wide_sum);
  EXPECT_EQ(after.top, before.top);
}

}  // namespace
}  // namespace spillway::kernels_device_row_test
