// Work that is cut by the number of threads is done by so many, or refused.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <vector>

#include "base/error.hpp"
#include "kernels/host/deal.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/host/onednn/isa.hpp"
#include "kernels/host/onednn/matmul.hpp"
#include "kernels/host/team/team.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::kernels_team_test {
namespace {

host::Label const label = "test";

// While it lives, OpenMP gives no team more than one thread.
class NoTeams {
 public:
  NoTeams() { omp_set_max_active_levels(0); }
  ~NoTeams() { omp_set_max_active_levels(m_before); }

 private:
  int m_before = omp_get_max_active_levels();
};

std::int64_t size_of_a_team() {
  std::int64_t size = 0;
#pragma omp parallel
  if (omp_get_thread_num() == 0) size = size_of_this_team();
  return size;
}

TEST(Team, has_exactly_the_threads_that_were_asked_for_while_it_lives) {
  omp_set_dynamic(1);
  auto const before = omp_get_max_threads();
  {
    Team const team(3);
    EXPECT_EQ(omp_get_dynamic(), 0) << "a busy machine would make it smaller";
    EXPECT_EQ(size_of_a_team(), 3);
  }
  EXPECT_EQ(omp_get_dynamic(), 1);
  EXPECT_EQ(omp_get_max_threads(), before);
  omp_set_dynamic(0);
}

TEST(Team, is_refused_where_there_would_be_fewer) {
  NoTeams const fewer;
  EXPECT_EQ(team_limit().threads, 1);
  EXPECT_NE(test::refused_with([] { begin_teams(2); }).find("OMP_MAX_ACTIVE_LEVELS allows 1"),
            std::string::npos);
  EXPECT_NE(test::refused_with([] { Team const team(2); }, Status::device)
                .find("1 threads work together where 2"),
            std::string::npos);
  EXPECT_EQ(test::refused_with([] { Team const team(1); }), "");
}

TEST(Team, is_refused_within_another_unless_teams_nest) {
  auto const before = omp_get_max_active_levels();
  omp_set_dynamic(0);
  for (int const levels : {1, 2}) {
    std::string alone = "not asked", two = "not asked";
    omp_set_max_active_levels(levels);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
      alone = test::refused_with([] { Team const team(1); }, Status::device);
      two = test::refused_with([] { Team const team(2); }, Status::device);
    }
    EXPECT_EQ(alone, "");
    EXPECT_EQ(two.starts_with("OpenMP has 1 threads work together where 2"), levels == 1) << two;
    EXPECT_EQ(two.empty(), levels == 2) << two;
  }
  omp_set_max_active_levels(before);
}

TEST(Team, is_begun_at_the_limit_and_not_beyond) {
  EXPECT_EQ(test::refused_with([] { begin_teams(5); }), "");
  EXPECT_NE(
      test::refused_with([] { begin_teams(513); }).find("Kokkos allows 512: give run.threads=512"),
      std::string::npos);
}

TEST(DealUnits, refuses_what_fewer_threads_have_done) {
  auto const exec = host::make_exec(nullptr);
  if (exec->concurrency() < 2) GTEST_SKIP() << "one thread cannot be fewer";
  std::atomic<int> done = 0;
  auto const deal = [&] {
    host::deal_units(*exec, label, 7, exec->concurrency(), [&](auto, auto) { ++done; });
  };
  EXPECT_EQ(test::refused_with(deal), "");
  EXPECT_EQ(done, 7);
  NoTeams const fewer;
  EXPECT_NE(test::refused_with(deal, Status::device).find("OpenMP has 1 threads work together"),
            std::string::npos);
}

TEST(DealUnits, gives_each_unit_once_to_workers_that_there_are) {
  auto const exec = host::make_exec(nullptr);
  for (auto const& dealt : {std::pair{7, 2}, {2, 7}, {5, 1}, {0, 3}}) {
    int const units = dealt.first, workers = dealt.second;
    std::vector<std::atomic<int>> times(static_cast<std::size_t>(units));
    std::atomic<int> strangers = 0;
    auto const deal = [&, most = std::min(units, workers)] {
      host::deal_units(*exec, label, units, workers, [&](std::int64_t worker, std::int64_t unit) {
        ++times[static_cast<std::size_t>(unit)];
        if (worker < 0 || worker >= most) ++strangers;
      });
    };
    EXPECT_EQ(test::refused_with(deal, Status::device), "") << units << " units";
    for (auto const& count : times) EXPECT_EQ(count, 1) << units << " units";
    EXPECT_EQ(strangers, 0);
  }
}

TEST(OneDnnMatmul, refuses_to_run_with_fewer_threads_than_it_was_bound_for) {
  if (!host::onednn_multiplies(DType::f32)) GTEST_SKIP() << "oneDNN has no product here";
  constexpr std::int64_t n = 64;
  auto const square = dense_matrix(DType::f32, n, n);
  host::OneDnnMatmul const product({.a = square, .b = square, .c = square}, 2);
  std::vector<float> a(n * n, 1), c(n * n);
  std::vector<std::byte> workspace(static_cast<std::size_t>(product.workspace_bytes()));
  auto const run = [&] {
    product({.a = a.data(), .b = a.data(), .c = c.data(), .workspace = workspace.data()});
  };
  EXPECT_EQ(test::refused_with(run), "");
  EXPECT_EQ(c.back(), n);
  NoTeams const fewer;
  EXPECT_NE(test::refused_with(run, Status::device).find("parts of products would be missing"),
            std::string::npos);
}

// In a process of its own, for oneDNN reads the variable once. The tiles multiply there.
TEST(OneDnnMatmulDeathTest, has_no_bf16_on_a_processor_without_AVX_512) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const asks = [](DType dtype) {
    ::setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
    std::_Exit(host::onednn_multiplies(dtype) ? 10 : 11);
  };
  EXPECT_EXIT(asks(DType::bf16), testing::ExitedWithCode(11), "");
  EXPECT_EXIT(asks(DType::f32), testing::ExitedWithCode(10), "");
}

}  // namespace
}  // namespace spillway::kernels_team_test
