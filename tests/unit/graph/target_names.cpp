// Names of what kernels are made for.
#include <gtest/gtest.h>

#include "graph/target.hpp"

namespace spillway::target_names_test {
namespace {

TEST(TargetNames, have_the_number_of_an_architecture_of_two_or_three_digits) {
  EXPECT_EQ(cuda_architecture("sm_10"), 10);
  EXPECT_EQ(cuda_architecture("sm_90"), 90);
  EXPECT_EQ(cuda_architecture("sm_120"), 120);
  EXPECT_EQ(cuda_architecture("sm_999"), 999);
  for (auto const* other :
       {"", "host", "90", "sm90", "SM_90", "compute_90", "sm_", "sm_9", "sm_09", "sm_090",
        "sm_1000", "sm_-90", "sm_+90", "sm_90a", "sm_90 ", " sm_90", "sm_4294967386"}) {
    EXPECT_EQ(cuda_architecture(other), std::nullopt) << other;
  }
}

TEST(TargetNames, are_the_host_or_an_architecture) {
  EXPECT_TRUE(is_target("host"));
  EXPECT_TRUE(is_target("sm_75"));
  for (auto const* other : {"", "Host", "hosts", "cuda", "sm_7"}) EXPECT_FALSE(is_target(other));
}

}  // namespace
}  // namespace spillway::target_names_test
