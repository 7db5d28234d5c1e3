// Buffers move to where nothing has lain for long.
#include "plan/memory/spread.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace spillway::test::spread_test {
namespace {

constexpr std::int64_t kPage = kPageBytes;

// A Program whose items each use one buffer of a page, and where these lie.
class SpreadTest : public testing::Test {
 protected:
  // Adds an item on the lane, which uses that buffer.
  void use(Lane lane, BufferId buffer) {
    Item item;
    item.number = static_cast<ItemNumber>(m_program.items.size());
    item.lane = lane;
    item.writes.push_back({buffer, 0, kPage, {}});
    m_program.items.push_back(std::move(item));
  }
  void idle(int items) {
    for (int i = 0; i < items; ++i) use(Lane::compute, m_idle);
  }
  void place(BufferId buffer, std::int64_t page, ItemNumber first, ItemNumber last) {
    m_stays.push_back({{first, last, 0, kPage}});
    m_placed.push_back({buffer, nullptr, kPage, kPage, 0, page * kPage, false});
  }
  // Returns the page where the last buffer that was placed lies in the end. No other one may move.
  std::int64_t spread_within(std::int64_t pages) {
    m_program.buffers.resize(8);
    for (std::size_t i = 0; i < m_placed.size(); ++i) {
      m_placed[i].stays = &m_stays[i];
      m_placed[i].reserved = i + 1 < m_placed.size();
    }
    spread(m_placed, m_program, pages * kPage);
    return m_placed.back().offset / kPage;
  }

  static constexpr BufferId m_idle = 7;  // lies nowhere
  Program m_program;
  std::vector<Lifetime> m_stays;
  std::vector<Movable> m_placed;
};

TEST_F(SpreadTest, a_copy_goes_where_nothing_has_lain_for_longest) {
  use(Lane::compute, 0);
  use(Lane::compute, 1);
  use(Lane::compute, 2);
  use(Lane::h2d, 3);
  idle(200);
  place(0, 1, 0, 0);
  place(1, 2, 1, 1);
  place(2, 0, 2, 2);
  place(3, 0, 3, 3);
  EXPECT_EQ(spread_within(3), 1);
}

TEST_F(SpreadTest, bytes_that_are_in_use_or_beyond_the_peak_are_left_alone) {
  use(Lane::compute, 0);
  use(Lane::compute, 2);
  use(Lane::h2d, 3);
  use(Lane::compute, 0);
  idle(200);
  place(0, 1, 0, 3);
  place(2, 0, 1, 1);
  place(3, 0, 2, 2);
  EXPECT_EQ(spread_within(2), 0) << "the other page is in use";
  EXPECT_EQ(spread_within(3), 2);
}

TEST_F(SpreadTest, items_of_one_lane_do_not_crowd_each_other) {
  use(Lane::h2d, 0);
  use(Lane::h2d, 3);
  idle(200);
  place(0, 0, 0, 0);
  place(3, 0, 1, 1);
  EXPECT_EQ(spread_within(2), 0);
}

TEST_F(SpreadTest, what_comes_after_counts_as_what_comes_before) {
  use(Lane::h2d, 3);
  use(Lane::compute, 0);
  idle(200);
  place(0, 0, 1, 1);
  place(3, 0, 0, 0);
  EXPECT_EQ(spread_within(2), 1);
}

TEST_F(SpreadTest, what_only_ops_use_makes_room_for_copies_but_not_for_other_ops) {
  use(Lane::d2h, 3);
  use(Lane::compute, 1);
  use(Lane::compute, 0);
  idle(200);
  place(3, 0, 0, 0);
  place(1, 1, 1, 1);
  place(0, 0, 2, 2);
  EXPECT_EQ(spread_within(2), 1);
}

// What comes much sooner counts far more than several that come a little sooner.
TEST_F(SpreadTest, nearness_counts_more_than_number) {
  for (BufferId const buffer : {0, 1, 2}) use(Lane::compute, buffer);
  idle(40);
  use(Lane::compute, 4);
  use(Lane::h2d, 3);
  idle(200);
  for (BufferId const buffer : {0, 1, 2}) place(buffer, 1, buffer, buffer);
  place(4, 0, 43, 43);
  place(3, 0, 44, 44);
  EXPECT_EQ(spread_within(2), 1);
}

// What a repeated segment uses last lies before what it uses first.
TEST_F(SpreadTest, a_repeated_segment_follows_itself) {
  idle(200);
  use(Lane::h2d, 3);
  idle(150);
  use(Lane::compute, 0);
  auto const last = static_cast<ItemNumber>(m_program.items.size());
  idle(200);
  m_program.segments = {
      {"first", 0, 200, 1}, {"middle", 200, last, 1}, {"update", last, last + 200, 0}};
  place(0, 0, last - 1, last - 1);
  place(3, 0, 200, 200);
  EXPECT_EQ(spread_within(2), 1);
  m_program.segments[1].name = "last";
  m_placed.back().offset = 0;
  EXPECT_EQ(spread_within(2), 0) << "it does not repeat";
}

}  // namespace
}  // namespace spillway::test::spread_test
