// A run on the stand-in for CUDA's runtime gives the same bits whatever the device does when.
#include <fmt/format.h>

#include "tests/parity/stand_in_run.hpp"
#include "tests/support/cuda/orders_seen.hpp"

namespace spillway::test {
namespace {

// What nothing orders is also seen in both orders, at least where the device has to do with it.
TEST_F(StandInRun, GivesTheSameBitsWheneverTheDeviceDoesWhat) {
  cuda::OrdersSeen orders;
  cuda::collect_orders(&orders);
  auto const expected = story({.settings = cuda::Settings{.laziness = cuda::Laziness::eager}});
  EXPECT_EQ(story({.settings = cuda::Settings{.laziness = cuda::Laziness::latest}}), expected);
  auto const seeds = number_in("SPILLWAY_SEEDS", 300);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    ASSERT_EQ(story({.settings = cuda::Settings{.seed = seed}}), expected) << "seed " << seed;
  cuda::collect_orders(nullptr);
  fmt::print(
      "{} schedules: of {} pairs of items that nothing orders, {:.1f} % begin in both orders\n",
      seeds + 2, orders.free_pairs(), 100 * orders.share_of_both());
  EXPECT_GT(orders.share_of_both(), 0.6);
}

}  // namespace
}  // namespace spillway::test
