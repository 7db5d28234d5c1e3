#include "base/give_way.hpp"

#include <gtest/gtest.h>

namespace spillway::give_way_test {
namespace {

using std::chrono::microseconds, std::chrono::milliseconds;

TEST(GiveWay, sleeps_for_a_while_after_a_yield_that_took_long) {
  SteadyClock::time_point const begin{milliseconds(1)};
  GiveWay give_way;
  EXPECT_FALSE(give_way.sleeps(begin));
  give_way.note_yield(begin, begin + microseconds(500));
  EXPECT_FALSE(give_way.sleeps(begin + microseconds(500)));
  auto const end = begin + milliseconds(24);
  give_way.note_yield(begin, end);
  EXPECT_TRUE(give_way.sleeps(end));
  EXPECT_TRUE(give_way.sleeps(end + milliseconds(49)));
  EXPECT_FALSE(give_way.sleeps(end + milliseconds(50)));
}

}  // namespace
}  // namespace spillway::give_way_test
