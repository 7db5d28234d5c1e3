// The micro-batch where it is open.
#include <gtest/gtest.h>

#include "train/plan_run.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kMib = 1 << 20;
constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

Config config() {
  Config result;
  result.model = {.layers = 6, .hidden = 256, .heads = 4};
  result.data.sequence = 128;
  result.batch.sequences = 16;
  return result;
}

// A device of its own, its link to the host slower than what it computes from.
Machine machine(double link_gbps) {
  return {.matmul_gflops_bf16 = 10'000,
          .matmul_gflops_f32 = 5'000,
          .memory_gbps = 500,
          .h2d_gbps = link_gbps,
          .d2h_gbps = link_gbps,
          .device_bytes = kPlenty};
}

std::int64_t micro(Budgets const& budgets, double link_gbps, std::int64_t from) {
  return fastest_micro(config(), 1000, {1, from}, budgets, machine(link_gbps), 1);
}

TEST(Micro, StaysWhereEverythingFits) {
  for (std::int64_t const from : {1, 4, 16}) EXPECT_EQ(micro({kPlenty, 0, 0}, 1, from), from);
}

// Each micro-batch brings the parameters anew.
TEST(Micro, GrowsWhereParametersComeOverASlowLink) {
  Budgets const budgets{24 * kMib, kPlenty, 0};
  EXPECT_GT(micro(budgets, 0.5, 1), 2);
}

// What is made again, or leaves, is less of a smaller one.
TEST(Micro, ShrinksUntilSomethingFits) {
  EXPECT_LT(micro({70 * kMib, 0, 0}, 1, 16), 16);
}

TEST(Micro, IsNoMoreThanARanksShare) {
  EXPECT_LE(micro({24 * kMib, kPlenty, 0}, 0.01, 4), 16);
}

}  // namespace
}  // namespace spillway
