// Where state goes in turn, hop by hop, and through which slots.
#include <gtest/gtest.h>

#include "plan/move/move_order.hpp"

namespace spillway::test::move_orders_test {
namespace {

using enum Tier;

constexpr std::int64_t kMib = 1 << 20;
constexpr TierBytes kRoomy = {64 * kMib, 64 * kMib, 64 * kMib};

void expect_hops(std::vector<Relocation> const& relocations, TierBytes const& limits,
                 std::vector<Hop> const& hops) {
  auto const order = move_order(relocations, limits, /*unified=*/false);
  ASSERT_TRUE(order);
  ASSERT_EQ(order->hops.size(), hops.size());
  for (std::size_t i = 0; i < hops.size(); ++i) {
    EXPECT_EQ(order->hops[i].relocation, hops[i].relocation) << i;
    EXPECT_EQ(order->hops[i].from, hops[i].from) << i;
    EXPECT_EQ(order->hops[i].to, hops[i].to) << i;
  }
  EXPECT_EQ(order->slot_count, 0);
  EXPECT_EQ(order->slot_bytes, 0);
}

TEST(MoveOrders, leave_what_is_in_its_place_and_wait_for_what_is_in_the_way) {
  expect_hops({{4096, {device, 0}, {device, 4096}},
               {4096, {device, 4096}, {host, 8192}},
               {4096, {host, 0}, {host, 0}},
               {4096, {device, 8192}, {host, 4096}}},
              kRoomy,
              {{1, {device, 4096}, {host, 8192}},
               {3, {device, 8192}, {host, 4096}},
               {0, {device, 0}, {device, 4096}}});
}

// The smaller of two that change places is put into a gap first, in another tier if need be.
TEST(MoveOrders, park_the_smaller_of_two_that_change_places) {
  std::vector<Relocation> const swap = {{8192, {device, 0}, {device, 8192}},
                                        {4096, {device, 8192}, {device, 0}}};
  auto const by_way_of = [](Spot const& gap) {
    return std::vector<Hop>{
        {1, {device, 8192}, gap}, {0, {device, 0}, {device, 8192}}, {1, gap, {device, 0}}};
  };
  expect_hops(swap, kRoomy, by_way_of({device, 16'384}));
  expect_hops(swap, {20'480, 4096, 0}, by_way_of({device, 16'384}));
  expect_hops(swap, {20'479, 4096, 0}, by_way_of({host, 0}));
  EXPECT_FALSE(move_order(swap, {20'479, 4095, kMib}, false)) << "the drive is not near enough";
}

// State of a page begins where a page does, also behind what is smaller.
TEST(MoveOrders, park_where_tensors_of_that_size_begin) {
  std::vector<Relocation> const swap = {{8192, {device, 0}, {device, 8192}},
                                        {4096, {device, 8192}, {device, 0}},
                                        {64, {device, 16'384}, {device, 16'384}}};
  auto const by_way_of = [](Spot const& gap) {
    return std::vector<Hop>{
        {1, {device, 8192}, gap}, {0, {device, 0}, {device, 8192}}, {1, gap, {device, 0}}};
  };
  expect_hops(swap, {24'576, 4096, 0}, by_way_of({device, 20'480}));
  expect_hops(swap, {24'575, 4096, 0}, by_way_of({host, 0}));
}

TEST(MoveOrders, park_in_a_gap_that_is_just_large_enough) {
  std::vector<Relocation> const swap = {{8192, {device, 0}, {device, 8192}},
                                        {4096, {device, 8192}, {device, 0}},
                                        {4096, {host, 0}, {host, 0}},
                                        {4096, {host, 8192}, {host, 8192}}};
  Spot const gap{host, 4096};
  expect_hops(swap, {16'384, 65'536, 0},
              {{1, {device, 8192}, gap}, {0, {device, 0}, {device, 8192}}, {1, gap, {device, 0}}});
}

// What is smaller than a page may begin within the last page of what is parked.
TEST(MoveOrders, park_in_a_gap_that_has_room_for_whole_pages) {
  std::vector<Relocation> const swap = {{8192, {device, 0}, {device, 8192}},
                                        {5000, {device, 8192}, {device, 0}},
                                        {64, {host, 5056}, {host, 5056}}};
  Spot const gap{host, 8192};
  expect_hops(swap, {16'384, 65'536, 0},
              {{1, {device, 8192}, gap}, {0, {device, 0}, {device, 8192}}, {1, gap, {device, 0}}});
}

struct Slots {
  Spot at;
  std::int64_t bytes;
  int count;
};

void expect_slots(Relocation const& relocation, TierBytes const& limits, bool unified,
                  Slots const& slots) {
  auto const order = move_order({relocation}, limits, unified);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->slots, slots.at);
  EXPECT_EQ(order->slot_bytes, slots.bytes);
  EXPECT_EQ(order->slot_count, slots.count);
  EXPECT_EQ(order->hops.size(), 1u);
}

TEST(MoveOrders, have_the_most_and_the_largest_slots_for_which_there_is_room) {
  Relocation const staged{9 * kMib + 100, {nvme, 0}, {device, kMib}};
  expect_slots(staged, kRoomy, false, {{host, 0}, 4 * kMib, 4});
  expect_slots(staged, {64 * kMib, 16 * kMib, 64 * kMib}, false, {{host, 0}, 4 * kMib, 4});
  expect_slots(staged, {64 * kMib, 16 * kMib - 1, 64 * kMib}, false, {{host, 0}, kMib, 4});
  expect_slots(staged, {64 * kMib, 4 * kMib - 1, 64 * kMib}, false, {{host, 0}, kMib, 1});
  EXPECT_FALSE(move_order({staged}, {64 * kMib, kMib - 1, 64 * kMib}, false));
  expect_slots({5000, {nvme, 0}, {device, 0}}, kRoomy, false, {{host, 0}, 8192, 4});
}

// Where memory is one, slots lie beside what is in it, or in the host tier.
TEST(MoveOrders, have_slots_where_the_drive_reaches_them) {
  Relocation const over_itself{2 * kMib, {device, 0}, {device, kMib}};
  expect_slots(over_itself, kRoomy, true, {{device, 3 * kMib}, 2 * kMib, 4});
  expect_slots(over_itself, {4 * kMib, 8 * kMib, 0}, true, {{host, 0}, 2 * kMib, 4});
  expect_slots(over_itself, kRoomy, false, {{host, 0}, 2 * kMib, 4});
}

TEST(MoveOrders, need_slots_for_what_overwrites_itself_or_has_no_direct_way) {
  auto const needs = [](Spot const& from, Spot const& to, bool unified, std::int64_t bytes = 100) {
    return needs_slots({bytes, from, to}, unified);
  };
  for (bool const unified : {false, true}) {
    EXPECT_FALSE(needs({nvme, 0}, {nvme, 0}, unified)) << "it stays";
    EXPECT_TRUE(needs({nvme, 0}, {nvme, kMib}, unified));
    EXPECT_TRUE(needs({device, 0}, {device, 64}, unified)) << "a line of 128 bytes in all";
    EXPECT_TRUE(needs({device, 64}, {device, 0}, unified));
    EXPECT_FALSE(needs({device, 0}, {device, 128}, unified));
    EXPECT_TRUE(needs({host, 4096}, {host, 0}, unified, 5000));
    EXPECT_FALSE(needs({host, 8192}, {host, 0}, unified, 5000));
    EXPECT_FALSE(needs({device, 0}, {host, 0}, unified));
    EXPECT_FALSE(needs({host, 0}, {nvme, 0}, unified));
    EXPECT_EQ(needs({device, 0}, {nvme, 0}, unified), !unified);
    EXPECT_EQ(needs({nvme, 0}, {device, 0}, unified), !unified);
  }
}

}  // namespace
}  // namespace spillway::test::move_orders_test
