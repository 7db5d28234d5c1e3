// How much streams move that measure a drive.
#include "profile/storage_bench.hpp"

#include <gtest/gtest.h>

#include <array>

namespace spillway::storage_bench_test {
namespace {

// Every transfer that was begun ends, and no other one begins once the time is up.
TEST(StorageBench, moves_eight_transfers_of_each_direction_at_a_time) {
  using enum Direction;
  auto const least = StorageBench::kLeastBytes;
  for (auto const& [bytes, megabytes] :
       {std::pair(least, 0.524288), {2 * least - 1, 0.524288}, {2 * least, 1.048576}}) {
    StorageBench bench(StorageBench::memory_for(bytes), ::testing::TempDir(), bytes, true);
    EXPECT_EQ(bench.core_s_per_gb(), 0) << "nothing was moved";
    auto const written = bench.stream(std::array{write}, 0);
    EXPECT_NEAR(written.gb, 1e-3 * megabytes, 1e-12);
    EXPECT_NEAR(bench.stream(std::array{read}, 0).gb, 1e-3 * megabytes, 1e-12);
    EXPECT_NEAR(bench.stream(std::array{read, write}, 0).gb, 2e-3 * megabytes, 1e-12);
    EXPECT_GT(written.s, 0);
    EXPECT_EQ(written.gbps(), written.gb / written.s);
  }
  EXPECT_EQ(StorageBench::Moved{}.gbps(), 0);
}

}  // namespace
}  // namespace spillway::storage_bench_test
