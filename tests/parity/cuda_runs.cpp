// A run on the stand-in for CUDA's runtime gives the same bits whatever the device does when.
#include <fmt/format.h>

#include <cstdlib>

#include "tests/parity/stand_in_run.hpp"

namespace spillway::test {
namespace {

TEST_F(StandInRun, GivesTheSameBitsWheneverTheDeviceDoesWhat) {
  auto const expected = story({.settings = cuda::Settings{.laziness = cuda::Laziness::eager}});
  EXPECT_EQ(story({.settings = cuda::Settings{.laziness = cuda::Laziness::latest}}), expected);
  auto const seeds = number_in("SPILLWAY_SEEDS", 300);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    ASSERT_EQ(story({.settings = cuda::Settings{.seed = seed}}), expected) << "seed " << seed;
}

}  // namespace
}  // namespace spillway::test
