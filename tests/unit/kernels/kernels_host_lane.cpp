// The host lane's ops on several threads: the bits of the compute lane, whatever their number.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/host_pieces.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_host_lane_test {
namespace {

using test::KernelHarness;

constexpr std::int64_t kOdd = 3 * kPieceElements + 4321;  // elements

TEST(HostPool, runs_every_piece_once) {
  for (int const threads : {1, 2, 3, 5}) {
    HostPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (std::int64_t const pieces : {0, 1, 2, 7, 100}) {
      std::vector<std::atomic<int>> times(static_cast<std::size_t>(pieces));
      pool.run(pieces, [&](std::int64_t piece) { ++times[static_cast<std::size_t>(piece)]; });
      for (auto const& count : times) EXPECT_EQ(count, 1);
    }
  }
}

// Each job writes what the next one reads, on whichever threads: a helper that is late for a job
// must not see half of the next one.
TEST(HostPool, sees_what_the_job_before_wrote) {
  constexpr std::int64_t kPieces = 4, kJobs = 20'000;
  HostPool pool(3);
  std::vector<std::int64_t> values(kPieces);
  for (std::int64_t job = 0; job < kJobs; ++job) {
    pool.run(kPieces, [&values, job](std::int64_t piece) {
      auto& value = values[static_cast<std::size_t>((piece + job) % kPieces)];
      if (value == job) value = job + 1;
    });
  }
  EXPECT_EQ(values, std::vector<std::int64_t>(kPieces, kJobs));
}

TEST(HostPool, cuts_without_regard_to_its_threads) {
  using Ranges = std::vector<std::int64_t>;
  auto const ranges_of = [](int threads) {
    HostPool pool(threads);
    Ranges ends(4);
    for_each_piece(Exec(pool), 31, 10, [&](std::int64_t first, std::int64_t last) {
      ends[static_cast<std::size_t>(first / 10)] = last;
    });
    return ends;
  };
  for (int const threads : {1, 2, 5}) EXPECT_EQ(ranges_of(threads), (Ranges{10, 20, 30, 31}));
}

TEST(HostPool, cuts_what_fits_exactly_and_nothing_where_nothing_is) {
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  HostPool pool(1);
  auto const ranges = [](Exec const& exec, std::int64_t n) {
    Ranges all;
    for_each_piece(exec, n, 10,
                   [&](std::int64_t first, std::int64_t last) { all.emplace_back(first, last); });
    return all;
  };
  EXPECT_EQ(ranges(Exec(pool), 30), (Ranges{{0, 10}, {10, 20}, {20, 30}}));
  EXPECT_EQ(ranges(Exec(pool), 10), (Ranges{{0, 10}}));
  EXPECT_EQ(ranges(Exec(pool), 9), (Ranges{{0, 9}}));
  EXPECT_EQ(ranges(Exec(pool), 0), Ranges{});
  EXPECT_EQ(ranges(Exec(), 31), (Ranges{{0, 31}}));
}

// Names by number, as `top -H` shows them. The caller keeps its own.
std::map<std::string, std::string> threads() {
  std::map<std::string, std::string> names;
  for (auto const& thread : std::filesystem::directory_iterator("/proc/self/task"))
    std::getline(std::ifstream(thread.path() / "comm") >> std::ws,
                 names[thread.path().filename().string()]);
  return names;
}

TEST(HostPool, gives_its_threads_the_name_of_the_lane) {
  auto const before = threads();
  HostPool const pool(4);
  std::multiset<std::string> begun;
  for (auto const& [number, name] : threads())
    if (!before.contains(number)) begun.insert(name);
  EXPECT_EQ(begun, (std::multiset<std::string>{"host", "host", "host"}));
}

class KernelHostLane : public ::testing::TestWithParam<std::tuple<int, DType>> {
 protected:
  KernelHostLane() { h.share_reference(m_pool); }

  static DType type() { return std::get<1>(GetParam()); }

  KernelHarness h;

 private:
  HostPool m_pool{std::get<0>(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Of, KernelHostLane,
                         ::testing::Combine(::testing::Values(1, 2, 3, 5),
                                            ::testing::Values(DType::f32, DType::bf16)),
                         [](auto const& info) {
                           return std::to_string(std::get<0>(info.param)) + "_threads_" +
                                  std::string(name(std::get<1>(info.param)));
                         });

TEST_P(KernelHostLane, accumulates_to_the_bits_of_the_compute_lane) {
  auto const fresh = h.tensor(type(), {kOdd}), sum = h.tensor(type(), {kOdd});
  h.fill_normal(fresh, 1);
  h.fill_normal(sum, 1);
  h.op(OpKind::accumulate, {fresh}, {sum});
  h.run(host::kernel(OpKind::accumulate));
  h.expect_same_bytes(sum);
}

TEST_P(KernelHostLane, sums_ranks_to_the_bits_of_the_compute_lane) {
  constexpr std::int64_t kRanks = 3;
  auto const slice = round_up(div_ceil(kOdd, kRanks), kNormTile);
  auto const parts = h.tensor(type(), {kRanks, slice}), sum = h.tensor(type(), {kOdd});
  h.fill_normal(parts, 1);
  h.fill_normal(sum, 1);
  h.op(OpKind::tree_sum, {parts}, {sum});
  h.run_as(1);
  h.run(host::kernel(OpKind::tree_sum));
  h.expect_same_bytes(sum);
}

// The parameters of a chunk, small and large, with gaps between them that nobody may touch.
std::vector<std::int64_t> const kSizes = {83, 2 * kPieceElements + 5, 1, 768, kPieceElements - 3};

View in(View const& tensor, Parameter const& p) {
  return {tensor.tensor, p.view.offset, p.view.shape, p.view.strides};
}

TEST_P(KernelHostLane, sums_squares_to_the_bits_of_the_compute_lane) {
  constexpr std::int64_t kRanks = 2;
  auto const chunk = h.chunk(kSizes);
  auto const gradient = h.tensor(type(), {chunk.elements}), norms = h.tensor(DType::f64, {kRanks});
  for (auto const& p : chunk.parameters) h.fill_normal(in(gradient, p), 1);
  h.op(OpKind::square_norm, {gradient}, {norms}, UpdateRange{});
  h.run(host::kernel(OpKind::square_norm));
  h.expect_same_bytes(norms);
}

TEST_P(KernelHostLane, updates_to_the_bits_of_the_compute_lane) {
  auto const chunk = h.chunk(kSizes);
  auto const tensor = [&](DType dtype) { return h.tensor(dtype, {chunk.elements}); };
  auto const gradient = tensor(type()), parameter = tensor(type()), m = tensor(type());
  auto const v = tensor(type()), remainder = tensor(DType::i16);
  auto const control = h.tensor(DType::f64, {kControlWords});
  for (auto const& p : chunk.parameters) {
    for (auto const& all : {gradient, parameter, m}) h.fill_normal(in(all, p), 0.1);
    h.fill_integers(in(remainder, p), -0x8000, 0x8000);
    h.set_all(in(v, p), std::vector<double>(static_cast<std::size_t>(element_count(p.view.shape))));
  }
  h.set_all(control, {1, 0.125, 1e-3, 0.1, 0.05, 0, 0, 0});
  h.op(OpKind::adamw, {gradient, control},
       {parameter, type() == DType::bf16 ? remainder : View{}, m, v},
       AdamWAttributes{0.9, 0.95, 1e-8, 0.1, 1, {}});
  h.run(host::kernel(OpKind::adamw));
  for (auto const& output : {parameter, remainder, m, v}) h.expect_same_bytes(output);
  EXPECT_NE(h.results(in(m, chunk.parameters[4])), h.contents(in(m, chunk.parameters[4])));
}

}  // namespace
}  // namespace spillway::kernels_host_lane_test
