#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "runtime/lane_clock.hpp"

namespace spillway::lanes_test {
namespace {

TEST(LaneClock, a_wait_for_the_past_returns_at_once) {
  LaneClock clock;
  EXPECT_TRUE(clock.wait_for(0));
  clock.publish();
  EXPECT_TRUE(clock.wait_for(1));
  EXPECT_EQ(clock.count(), 1u);
}

TEST(LaneClock, waiters_see_what_was_written_before_the_publish) {
  constexpr int kItems = 20000;
  LaneClock there, back;
  std::int64_t value = 0;  // plain: only the clocks order its accesses
  std::thread other([&] {
    for (std::uint64_t i = 1; i <= kItems; ++i) {
      if (!there.wait_for(i)) return;
      value = 3 * value + 1;
      back.publish();
    }
  });
  std::int64_t expected = 0;
  bool equal = true;
  for (std::uint64_t i = 1; i <= kItems; ++i) {
    there.publish();
    ASSERT_TRUE(back.wait_for(i));
    expected = 3 * (expected & 0xffff) + 1;
    equal = equal && value == expected;
    value &= 0xffff;
  }
  other.join();
  EXPECT_TRUE(equal);
}

TEST(LaneClock, failure_wakes_every_waiter_and_lasts) {
  LaneClock clock;
  std::atomic<int> woken = 0;
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] { woken += clock.wait_for(5) ? 100 : 1; });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  clock.publish();
  clock.fail();
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(woken, 4);
  clock.publish();  // a late item of a lane that had not noticed
  EXPECT_FALSE(clock.wait_for(0));
  EXPECT_EQ(clock.count(), 2u);
}

TEST(LaneClock, an_alarm_rings_once_when_its_count_is_reached) {
  LaneClock clock;
  EXPECT_FALSE(clock.publish()) << "nobody has set one";
  clock.set_alarm(3);
  EXPECT_FALSE(clock.publish());
  EXPECT_TRUE(clock.publish()) << "exactly there";
  EXPECT_FALSE(clock.publish()) << "it is off";
  clock.set_alarm(9);
  EXPECT_TRUE(clock.publish(7)) << "further than that at once";
  EXPECT_EQ(clock.count(), 11u);
  clock.set_alarm(2);
  EXPECT_TRUE(clock.publish()) << "set too late, it rings with the next one";
  EXPECT_FALSE(clock.publish(100));
}

TEST(LaneClock, of_two_alarms_the_earlier_one_stays) {
  LaneClock clock;
  clock.set_alarm(2);
  clock.set_alarm(5);
  EXPECT_FALSE(clock.publish());
  EXPECT_TRUE(clock.publish());
  EXPECT_FALSE(clock.publish(3)) << "there is one alarm";
  clock.set_alarm(9);
  clock.set_alarm(7);
  EXPECT_FALSE(clock.publish());
  EXPECT_TRUE(clock.publish());
  EXPECT_FALSE(clock.publish(2));
}

TEST(LaneClock, that_has_failed_counts_on_and_rings_only_its_alarm) {
  LaneClock clock;
  clock.publish(2);
  EXPECT_FALSE(clock.failed());
  clock.fail();
  EXPECT_TRUE(clock.failed());
  EXPECT_EQ(clock.count(), 2u);
  EXPECT_FALSE(clock.publish());
  clock.set_alarm(5);
  EXPECT_FALSE(clock.publish());
  EXPECT_TRUE(clock.publish());
  EXPECT_EQ(clock.count(), 5u);
  EXPECT_TRUE(clock.failed());
}

}  // namespace
}  // namespace spillway::lanes_test
