// Which rank is slow by what ranks have waited for each other, and when that begins and ends.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "report/slow_rank.hpp"

namespace spillway::slow_ranks_test {
namespace {

using Waits = std::vector<MutualWait>;

// What ranks have waited if rank r waited `seconds[r]` for rank `peers[r]`.
Waits waits_of(std::vector<double> const& seconds, std::vector<int> const& peers) {
  Waits waits(seconds.size());
  for (std::size_t rank = 0; rank < seconds.size(); ++rank)
    add_wait(waits, rank, {seconds[rank], peers[rank], seconds[rank]});
  return waits;
}

// -1 stands for none.
int slow_in(Waits const& waits, double seconds) {
  auto const slow = slow_rank(waits, seconds);
  return slow ? slow->rank : -1;
}

TEST(SlowRank, is_one_that_the_others_wait_for_a_tenth_of_the_time) {
  EXPECT_EQ(slow_in(waits_of({0, 1}, {-1, 0}), 10), 0) << "of two";
  EXPECT_EQ(slow_in(waits_of({0.99, 0}, {1, -1}), 10), -1);
  auto const of_three = slow_rank(waits_of({1.5, 0.25, 2.5}, {1, 2, 1}), 10);
  ASSERT_TRUE(of_three);
  EXPECT_EQ(of_three->rank, 1);
  EXPECT_EQ(of_three->wait_s, 2) << "a mean over the others";
  EXPECT_EQ(slow_in(waits_of({2, 2, 2, 2, 0}, {4, 4, 4, 4, -1}), 10), 4) << "of five";
  EXPECT_EQ(slow_in(waits_of({2, 0, 0, 0, 0}, {4, -1, -1, -1, -1}), 10), -1)
      << "one of four waits, and that is half a second as a mean";
}

TEST(SlowRank, is_none_where_all_wait_alike) {
  EXPECT_EQ(slow_in(waits_of({4, 4}, {1, 0}), 10), -1) << "for the network";
  EXPECT_EQ(slow_in(waits_of({4, 4, 4}, {1, 2, 0}), 10), -1);
  EXPECT_EQ(slow_in(waits_of({0, 0, 0, 0, 0}, {-1, -1, -1, -1, -1}), 10), -1);
  EXPECT_EQ(slow_in(waits_of({4, 2.9}, {1, 0}), 10), 1) << "beyond what it waits itself";
}

TEST(SlowRank, is_the_first_of_equal_ones_or_the_one_that_costs_most) {
  EXPECT_EQ(slow_in(waits_of({9, 0, 9, 0, 0}, {1, -1, 3, -1, -1}), 10), 1);
  EXPECT_EQ(slow_in(waits_of({6, 0, 9, 0, 0}, {1, -1, 3, -1, -1}), 10), 3);
}

TEST(SlowRank, is_none_of_one_or_of_no_time) {
  EXPECT_EQ(slow_in(waits_of({7}, {0}), 10), -1);
  EXPECT_EQ(slow_in({}, 10), -1);
  EXPECT_EQ(slow_in(waits_of({1, 0}, {1, -1}), 0), -1);
  EXPECT_EQ(slow_in(waits_of({1, 0}, {1, -1}), std::numeric_limits<double>::quiet_NaN()), -1);
}

class SlowRanks : public ::testing::Test {
 protected:
  // A logged step of `step_s` in which the two others wait half of it for `rank`, if it is one.
  SlowRankWatch::Look after_step(int rank, double step_s = 20) {
    Waits waits(3);
    for (int other = 0; rank >= 0 && other < 3; ++other)
      if (other != rank)
        add_wait(waits, static_cast<std::size_t>(other), {step_s / 2, rank, step_s / 2});
    watch.add_step(step_s, waits);
    return watch.look();
  }
  // The changes that such steps make, as "step:before>now".
  std::string changes(std::vector<int> const& ranks, double step_s = 20) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (auto const change = after_step(ranks[i], step_s).change)
        text += std::to_string(i + 1) + ":" + std::to_string(change->before) + ">" +
                std::to_string(change->now) + " ";
    return text;
  }

  SlowRankWatch watch;
};

TEST_F(SlowRanks, are_told_after_three_looks_in_a_row_and_so_is_their_end) {
  EXPECT_EQ(changes({2, 2, 2, 2, -1, 2, -1, -1, 2, -1, -1, -1, -1}), "3:-1>2 12:2>-1 ");
}

TEST_F(SlowRanks, may_be_others) {
  EXPECT_EQ(changes({0, 0, 0, 1, 0, 1, 1, 1, 0}), "3:-1>0 8:0>1 ");
}

TEST_F(SlowRanks, are_no_news_where_noise_makes_them) {
  EXPECT_EQ(changes({0, 0, -1, 0, 0, 1, 0, 0, -1, -1, -1, -1}), "");
}

// Three looks at steps of 4 s are 12 s of them.
TEST_F(SlowRanks, are_no_news_before_half_a_minute) {
  EXPECT_EQ(changes({1, 1, 1, 1, 1, 1, 1, -1}, 4), "");
  EXPECT_EQ(changes({1, 1, 1, 1, 1, 1, 1, 1, 1}, 4), "8:-1>1 ");
}

// Four steps are not logged.
TEST_F(SlowRanks, have_the_seconds_of_a_step) {
  Waits waits(2);
  add_wait(waits, 0, {1, 1, 1});
  for (int look = 1; look <= 3; ++look) {
    for (int step = 0; step < 5; ++step) watch.add_step(step == 0 ? 8 : 3, waits);
    auto const seen = watch.look();
    ASSERT_TRUE(seen.slow);
    EXPECT_EQ(seen.slow->rank, 1);
    EXPECT_EQ(seen.slow->wait_s, 1);
    ASSERT_EQ(seen.change.has_value(), look == 3);
    if (!seen.change) continue;
    EXPECT_EQ(wait_words(*seen.change), "the others wait 1 s of each 4 s step for it");
  }
}

TEST(SlowRankWords, name_the_host_where_it_is_known) {
  std::array<std::string, 2> const hosts = {"n1", "n2"};
  EXPECT_EQ(rank_words(1, hosts), "rank 1 (host n2)");
  EXPECT_EQ(rank_words(2, hosts), "rank 2");
}

}  // namespace
}  // namespace spillway::slow_ranks_test
