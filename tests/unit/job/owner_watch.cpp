#include "job/owner_watch.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace spillway::owner_watch_test {
namespace {

constexpr std::optional<Verdict> kGoOn;
Look const kStale{.error = ESTALE};

TEST(OwnerWatch, ends_with_a_change_with_the_file_or_with_its_time) {
  OwnerWatch watch({.text = "a"}, 20);
  EXPECT_EQ(watch.after({.text = "a"}, 19.9), kGoOn);
  EXPECT_EQ(watch.after({.text = "a"}, 20), Verdict::gone);
  EXPECT_EQ(watch.after({.text = "b"}, 1), Verdict::lives);
  EXPECT_EQ(watch.after({.text = ""}, 1), Verdict::lives);
  EXPECT_EQ(watch.after({.is_there = false}, 1), Verdict::removed);
}

TEST(OwnerWatch, takes_no_error_of_reading_for_a_change) {
  OwnerWatch watch({.text = "a"}, 20);
  EXPECT_EQ(watch.after(kStale, 5), kGoOn);
  EXPECT_EQ(watch.after({.text = "a"}, 10), kGoOn);
  EXPECT_EQ(watch.after(kStale, 20), Verdict::unknown);
  EXPECT_EQ(watch.after({.text = "a"}, 20), Verdict::gone);
}

// What was not read cannot be compared with: the watch begins anew with the first text.
TEST(OwnerWatch, takes_the_end_of_an_error_of_reading_for_no_change) {
  OwnerWatch watch(kStale, 20);
  EXPECT_EQ(watch.after(kStale, 10), kGoOn);
  EXPECT_EQ(watch.after({.text = "a"}, 15), kGoOn);
  EXPECT_EQ(watch.after({.text = "a"}, 34.9), kGoOn);
  EXPECT_EQ(watch.after({.text = "b"}, 34.9), Verdict::lives);
  EXPECT_EQ(watch.after({.text = "a"}, 35), Verdict::gone);
}

}  // namespace
}  // namespace spillway::owner_watch_test
