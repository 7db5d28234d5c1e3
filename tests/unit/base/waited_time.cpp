#include "base/waited_time.hpp"

#include <gtest/gtest.h>

namespace spillway::waited_time_test {
namespace {

using std::chrono::milliseconds;

TEST(WaitedTime, adds_up_what_lies_between_looks) {
  SteadyClock::time_point const begin{};
  WaitedTime waited(0.1, begin);
  waited.look(begin + milliseconds(50));
  waited.look(begin + milliseconds(90));
  EXPECT_DOUBLE_EQ(waited.seconds(), 0.09);
}

TEST(WaitedTime, an_hour_in_which_nobody_looked_counts_as_one_look) {
  SteadyClock::time_point const begin{};
  WaitedTime waited(0.1, begin);
  waited.look(begin + std::chrono::hours(1));
  waited.look(begin + std::chrono::hours(1) + milliseconds(50));
  EXPECT_DOUBLE_EQ(waited.seconds(), 0.15);
}

TEST(WaitedTime, begins_anew) {
  SteadyClock::time_point const begin{};
  WaitedTime waited(0.1, begin);
  waited.look(begin + milliseconds(50));
  waited.restart(begin + milliseconds(80));
  waited.look(begin + milliseconds(90));
  EXPECT_DOUBLE_EQ(waited.seconds(), 0.01);
}

}  // namespace
}  // namespace spillway::waited_time_test
