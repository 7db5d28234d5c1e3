#include "base/sleep_word.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace spillway::sleep_word_test {
namespace {

TEST(SleepWord, does_not_sleep_on_a_value_that_has_passed) {
  SleepWord word;
  word = 2;
  word.sleep_while(1);
  EXPECT_EQ(word, 2u);
}

// Who is not woken, or sleeps on what has changed, hangs: turns come while the other one still
// looks, when it is about to sleep, and when it sleeps.
TEST(SleepWord, is_seen_by_who_sleeps_whenever_it_changes) {
  constexpr std::uint32_t kTurns = 20'000;
  SleepWord word;
  auto const take_turns = [&](std::uint32_t mine) {
    for (auto turn = mine; turn < kTurns; turn += 2) {
      for (auto now = word.load(); now != turn; now = word.load()) word.sleep_while(now);
      if (turn % 1000 < 4) std::this_thread::sleep_for(std::chrono::microseconds(300));
      ++word;
      word.wake_one();
    }
  };
  std::jthread const other(take_turns, 1);
  take_turns(0);
}

TEST(SleepWord, wakes_all_who_sleep_on_it) {
  SleepWord word, gone;
  std::vector<std::jthread> sleepers;
  for (int i = 0; i < 5; ++i) {
    sleepers.emplace_back([&] {
      word.sleep_while(0);
      ++gone;
      gone.wake_one();
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // most of them sleep by then
  word = 1;
  word.wake_all();
  for (auto now = gone.load(); now < 5; now = gone.load()) gone.sleep_while(now);
}

TEST(SleepWord, does_not_end_a_sleep_without_a_change) {
  SleepWord word;
  std::atomic<bool> begun = false, changed = false, too_early = false;
  {
    std::jthread const sleeper([&] {
      begun = true;
      word.sleep_while(0);
      too_early = !changed;
    });
    while (!begun) std::this_thread::yield();
    for (int i = 0; i < 50; ++i) {
      word.wake_all();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    changed = true;
    ++word;
    word.wake_all();
  }
  EXPECT_FALSE(too_early);
}

}  // namespace
}  // namespace spillway::sleep_word_test
