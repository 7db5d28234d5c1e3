// Of buffers that are drawn at random, none that is near is missed.
#include "plan/memory/near_uses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace spillway::test::near_uses_test {
namespace {

constexpr int kItems = 1500, kBuffers = 120, kMiddle = 400, kMiddleEnd = 900;

// A Program whose buffers are used by two to four items each, most of them in a short time.
class NearUsesTest : public testing::Test {
 protected:
  NearUsesTest() {
    m_program.buffers.resize(kBuffers);
    m_program.items.resize(kItems);
    m_program.segments = {{"first", 0, kMiddle, 1},
                          {"middle", kMiddle, kMiddleEnd, 1},
                          {"last", kMiddleEnd, kItems, 1}};
    for (int i = 0; i < kItems; ++i) {
      m_program.items[i].number = i;
      m_program.items[i].lane = below(2) == 0 ? Lane::compute : Lane::h2d;
    }
    for (int b = 0; b < kBuffers; ++b) {
      int const length = below(4) == 0 ? kItems : 60, first = below(kItems);
      int last = first;
      for (int use = 0; use < 3; ++use) {
        int const item = std::min(first + below(length), kItems - 1);
        m_program.items[item].reads.push_back({b, 0, 1, {}});
        last = std::max(last, item);
      }
      m_program.items[first].writes.push_back({b, 0, 1, {}});
      m_stays.push_back({{first, last, 0, 1}});
    }
    for (int b = 0; b < kBuffers; ++b) m_placed.push_back({b, &m_stays[b], 1, 1, 0, 0, false});
    m_uses = uses_of(m_placed, m_program);
  }
  int below(int count) {
    return static_cast<int>(m_random() % static_cast<std::mt19937_64::result_type>(count));
  }

  // Returns how many items after the last one of `before` the first one of `after` comes.
  static ItemNumber distance(Uses const& before, Uses const& after) {
    auto const again = before.middle == after.middle ? before.period : kItems;
    return after.first > before.last ? after.first - before.last
                                     : after.first + again - before.last;
  }

  std::mt19937_64 m_random{7};
  Program m_program;
  IdVector<Lifetime> m_stays;
  std::vector<Movable> m_placed;
  std::vector<Uses> m_uses;
};

TEST_F(NearUsesTest, are_all_found_and_each_once) {
  NearUses near(m_uses);
  std::size_t listed = 0;
  for (std::size_t i = 0; i < m_uses.size(); ++i) {
    auto const& found = near.of(i);
    listed += found.size();
    for (std::size_t k = 0; k < m_uses.size(); ++k) {
      bool const meet = m_uses[i].first_stay <= m_uses[k].last_stay &&
                        m_uses[k].first_stay <= m_uses[i].last_stay;
      bool const is_near =
          meet || distance(m_uses[i], m_uses[k]) < kFar || distance(m_uses[k], m_uses[i]) < kFar;
      auto const times = std::ranges::count(found, k);
      EXPECT_LE(times, k == i ? 0 : 1);
      EXPECT_TRUE(times == 1 || !is_near || k == i) << i << " " << k;
    }
  }
  EXPECT_LT(listed, m_uses.size() * m_uses.size() * 3 / 4) << "most are far";
}

TEST_F(NearUsesTest, know_lanes_and_what_repeats) {
  for (int b = 0; b < kBuffers; ++b) {
    auto const& uses = m_uses[static_cast<std::size_t>(b)];
    auto const& stay = m_stays[b].front();
    EXPECT_EQ(uses.first, stay.first);
    EXPECT_EQ(uses.last, stay.last);
    EXPECT_EQ(uses.lane, m_program.items[stay.first].lane);
    EXPECT_EQ(uses.only_ops, uses.ends[Lane::h2d] < 0);
    bool const in_middle = kMiddle <= stay.first && stay.last < kMiddleEnd;
    EXPECT_EQ(uses.middle, in_middle ? 1 : -1);
    EXPECT_EQ(uses.period, in_middle ? kMiddleEnd - kMiddle : kItems);
  }
}

}  // namespace
}  // namespace spillway::test::near_uses_test
