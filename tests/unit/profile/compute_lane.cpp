#include "profile/compute_lane.hpp"

#include <gtest/gtest.h>

#include <string>

#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "tests/support/kokkos_environment.hpp"

namespace spillway::compute_lane_test {
namespace {

TEST(ComputeLane, times_what_it_launches_behind_what_comes_before) {
  Compute const compute{host_device(), host::kernels()};
  ComputeLane const lane(compute);
  EXPECT_EQ(lane.stream(), nullptr) << "the host works by itself";
  std::string order;
  auto const launch = [&] {
    order += "launch ";
    for (auto const begin = SteadyClock::now(); seconds_since(begin) < 0.02;) continue;
  };
  EXPECT_GE(lane.seconds(launch, [&] { order += "before "; }), 0.02);
  EXPECT_GE(lane.seconds(launch), 0.02);
  EXPECT_EQ(order, "before launch launch ");
}

}  // namespace
}  // namespace spillway::compute_lane_test
