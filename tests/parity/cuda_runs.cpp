// A run on the stand-in for CUDA's runtime gives the same bits whatever the device does when.
#include <fmt/format.h>

#include "device/cuda/cuda_device.hpp"
#include "tests/parity/stand_in_run.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/orders_seen.hpp"
#include "tests/support/cuda/settings.hpp"
#include "tests/support/cuda/step_calls.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::cuda_runs_test {
namespace {

// What nothing orders is also seen in both orders, at least where the device has to do with it.
TEST_F(StandInRun, gives_the_same_bits_whenever_the_device_does_what) {
  cuda::OrdersSeen orders;
  cuda::collect_orders(&orders);
  auto const expected = story({.settings = cuda::Settings{.laziness = cuda::Laziness::eager}});
  EXPECT_EQ(story({.settings = cuda::Settings{.laziness = cuda::Laziness::latest}}), expected);
  auto const seeds = sampled_seeds(100, 10'000);
  for (auto const seed : seeds)
    ASSERT_EQ(story({.settings = cuda::Settings{.seed = seed}}), expected) << "seed " << seed;
  cuda::collect_orders(nullptr);
  fmt::print(
      "{} schedules: of {} pairs of items that nothing orders, {:.1f} % begin in both orders\n",
      seeds.size() + 2, orders.free_pairs(), 100 * orders.share_of_both());
  EXPECT_GT(orders.share_of_both(), 0.6);
}

TEST_F(StandInRun, makes_and_gives_back_nothing_after_the_first_step) {
  cuda::ask_of_next_run({.settings = cuda::Settings{.devices = 2}});
  std::vector<cuda::Calls> after;
  auto longer = run();
  longer.steps = 4;
  longer.after_step = [&](Engine const&) { after.push_back(cuda::calls()); };
  train(longer);
  ASSERT_EQ(after.size(), 4U);
  EXPECT_EQ(cuda::differing_calls(after.front(), after.back()), std::vector<std::string>{});
  for (auto const* name : {"launch", "cudaMemcpyAsync", "cudaEventRecord", "cudaStreamWaitEvent"})
    EXPECT_GT(after.back()[name], after.front()[name]) << name;
  EXPECT_GT(after.front()["cuMemCreate"], 0);
}

// Pinning takes a good part of a second per GiB.
TEST(StandInTiers, keep_the_pin_of_memory_that_stays_as_large) {
  constexpr std::int64_t bytes = 1 << 20;
  cuda::reset();
  {
    auto const device = open_cuda_device(0);
    Tiers tiers(*device, {bytes, bytes, 0}, nullptr, {4 * bytes, 4 * bytes});
    tiers.resize({2 * bytes, bytes, 0});
    EXPECT_EQ(cuda::calls().at("cudaHostRegister"), 1);
    tiers.resize({bytes, 2 * bytes, 0});
    EXPECT_EQ(cuda::calls().at("cudaHostRegister"), 2);
  }
  EXPECT_EQ(cuda::complaints(), std::vector<std::string>{});
}

}  // namespace
}  // namespace spillway::test::cuda_runs_test
