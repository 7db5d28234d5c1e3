// The Program of a move: which bytes each item copies from where to where.
#include <gtest/gtest.h>

#include "plan/move/move.hpp"
#include "plan/move/move_order.hpp"

namespace spillway::test::move_programs_test {
namespace {

using enum Tier;

constexpr std::int64_t kMib = 1 << 20;

struct State {
  Spot at;
  std::int64_t bytes;
};

// A Program that has nothing but state.
Program with(std::vector<State> const& states, bool unified) {
  Program program;
  program.unified = unified;
  program.peak_bytes = {256 * kMib, 256 * kMib, 256 * kMib};
  for (State const& state : states) {
    Buffer buffer;
    buffer.id = buffer.tensor = static_cast<BufferId>(program.buffers.size());
    buffer.name = "state";
    buffer.tier = state.at.tier;
    buffer.offset = state.at.offset;
    buffer.bytes = state.bytes;
    buffer.persistent = true;
    program.buffers.push_back(buffer);
    program.tensors.emplace_back().id = buffer.tensor;
  }
  return program;
}

struct Copied {
  BufferId from, to;
  std::int64_t first_mib, last_mib;  // of the buffer that is read
  Lane lane;

  bool operator==(Copied const&) const = default;
};

std::vector<Copied> copies(Program const& move) {
  std::vector<Copied> result;
  for (Item const& item : move.items) {
    Access const &read = item.reads.at(0), &write = item.writes.at(0);
    EXPECT_EQ(item.operands, (std::vector{read.buffer, write.buffer}));
    EXPECT_EQ(write.last - write.first, read.last - read.first);
    result.push_back({read.buffer, write.buffer, read.first / kMib, read.last / kMib, item.lane});
  }
  return result;
}

std::vector<Copied> copies_of_one(Spot const& from, Spot const& to) {
  auto const move = make_move(with({{from, 33 * kMib}}, true), with({{to, 33 * kMib}}, true));
  return move ? copies(*move) : std::vector<Copied>{};
}

TEST(MovePrograms, copy_slices_of16_mib_from_the_first) {
  EXPECT_EQ(copies_of_one({host, 0}, {nvme, 0}),
            (std::vector<Copied>{{0, 1, 0, 16, Lane::nvme_write},
                                 {0, 1, 16, 32, Lane::nvme_write},
                                 {0, 1, 32, 33, Lane::nvme_write}}));
  EXPECT_EQ(copies_of_one({device, 64 * kMib}, {device, 0}),
            (std::vector<Copied>{
                {0, 1, 0, 16, Lane::h2d}, {0, 1, 16, 32, Lane::h2d}, {0, 1, 32, 33, Lane::h2d}}));
}

TEST(MovePrograms, copy_the_last_slice_first_to_what_lies_higher_in_the_same_tier) {
  EXPECT_EQ(copies_of_one({device, 0}, {device, 64 * kMib}),
            (std::vector<Copied>{
                {0, 1, 32, 33, Lane::h2d}, {0, 1, 16, 32, Lane::h2d}, {0, 1, 0, 16, Lane::h2d}}));
}

// Buffers 2 to 5 are slots of 4 MiB in host memory. The second tensor goes on with the next one.
TEST(MovePrograms, take_the_slots_in_turn) {
  auto const from = with({{{device, 0}, 9 * kMib}, {{device, 16 * kMib}, 5 * kMib}}, false);
  auto const to = with({{{nvme, 0}, 9 * kMib}, {{nvme, 16 * kMib}, 5 * kMib}}, false);
  auto const move = make_move(from, to);
  ASSERT_TRUE(move);
  constexpr auto out = Lane::d2h, on = Lane::nvme_write;
  EXPECT_EQ(copies(*move), (std::vector<Copied>{{0, 2, 0, 4, out},
                                                {2, 6, 0, 4, on},
                                                {0, 3, 4, 8, out},
                                                {3, 6, 0, 4, on},
                                                {0, 4, 8, 9, out},
                                                {4, 6, 0, 1, on},
                                                {1, 5, 0, 4, out},
                                                {5, 7, 0, 4, on},
                                                {1, 2, 4, 5, out},
                                                {2, 7, 0, 1, on}}));
  for (BufferId const slot : {2, 3, 4, 5}) {
    Buffer const& buffer = move->buffers[slot];
    EXPECT_EQ(buffer.tier, host);
    EXPECT_EQ(buffer.offset, (slot - 2) * 4 * kMib);
    EXPECT_EQ(buffer.bytes, 4 * kMib);
    EXPECT_FALSE(buffer.persistent);
  }
  EXPECT_EQ(move->buffers[6].tier, nvme);
  EXPECT_EQ(move->buffers[7].offset, 16 * kMib);
}

TEST(MovePrograms, have_the_larger_peak_of_each_tier_and_the_ranks_of_the_run) {
  auto from = with({{{device, 0}, kMib}}, false), to = with({{{host, 0}, kMib}}, false);
  from.ranks = to.ranks = 3;
  from.peak_bytes = {10 * kMib, 30 * kMib, 20 * kMib};
  to.peak_bytes = {20 * kMib, 10 * kMib, 40 * kMib};
  auto const move = make_move(from, to);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->peak_bytes, (TierBytes{20 * kMib, 30 * kMib, 40 * kMib}));
  EXPECT_EQ(move->ranks, 3);
  EXPECT_TRUE(move->once);
  EXPECT_FALSE(move->unified);
  ASSERT_EQ(move->segments.size(), 1u);
  EXPECT_EQ(move->segments[0], (Segment{"move", 0, 1, 0}));
}

}  // namespace
}  // namespace spillway::test::move_programs_test
