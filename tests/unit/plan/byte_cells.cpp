// Cells against single bytes.
#include "plan/proof/byte_cells.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace spillway::test::byte_cells_test {
namespace {

// Buffers that overlap, some of two versions, and items that use parts of them.
Program random_program(unsigned seed) {
  std::mt19937 random(seed);
  auto const upto = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  Program program;
  for (BufferId id = 0; id < 8; ++id) {
    Buffer buffer;
    buffer.id = id;
    buffer.tier = static_cast<Tier>(upto(2));
    buffer.bytes = 1 + upto(30);
    buffer.offset = upto(60);
    buffer.versions = static_cast<int>(1 + upto(1));
    buffer.stride = buffer.versions > 1 ? buffer.bytes + upto(5) : 0;
    program.buffers.push_back(buffer);
  }
  for (ItemNumber number = 0; number < 20; ++number) {
    Item item;
    item.number = number;
    for (auto* accesses : {&item.reads, &item.writes}) {
      for (auto left = upto(3); left > 0; --left) {
        auto const& buffer = program.buffers[static_cast<std::size_t>(upto(7))];
        auto const first = upto(buffer.bytes - 1);
        accesses->push_back({buffer.id, first, first + 1 + upto(buffer.bytes - first - 1), {}});
      }
    }
    program.items.push_back(item);
  }
  return program;
}

using Cells = std::set<std::size_t>;

Cells cells_of(ByteCells::CellRange const& range) {
  Cells cells;
  for (std::size_t cell = range.first; cell < range.last; ++cell) cells.insert(cell);
  return cells;
}

// Calls visit(access, its range) for all of an item.
template <class Visit>
void for_each_access(ByteCells const& cells, Item const& item, int step, Visit const& visit) {
  auto const reads = cells.reads(item, step), writes = cells.writes(item, step);
  ASSERT_EQ(reads.size(), item.reads.size());
  ASSERT_EQ(writes.size(), item.writes.size());
  for (std::size_t i = 0; i < reads.size(); ++i) visit(item.reads[i], reads[i]);
  for (std::size_t i = 0; i < writes.size(); ++i) visit(item.writes[i], writes[i]);
}

TEST(ByteCells, are_the_bytes_of_every_access) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    auto const program = random_program(seed);
    ByteCells const cells(program);
    std::map<std::pair<Tier, std::int64_t>, std::size_t> cell_of;  // of a byte
    for (Item const& item : program.items) {
      for (int step = 0; step < 3; ++step) {
        for_each_access(cells, item, step, [&](Access const& access, auto const& range) {
          auto const& buffer = program.buffers[static_cast<std::size_t>(access.buffer)];
          auto [first, last] = arena_range(buffer, access, step);
          for (auto const cell : cells_of(range)) {
            auto const bytes = cells.bytes(cell);
            EXPECT_EQ(bytes.first, first);  // no gap, nothing outside
            first = bytes.last;
            for (auto byte = bytes.first; byte < bytes.last; ++byte)
              EXPECT_EQ(cell_of.try_emplace({buffer.tier, byte}, cell).first->second, cell);
          }
          EXPECT_EQ(first, last);
        });
      }
    }
  }
}

// Without a layout only accesses to the same version of the same buffer share cells.
TEST(ByteCells, by_buffer_are_of_one_version_of_one) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    auto const program = random_program(seed);
    auto const cells = ByteCells::by_buffer(program);
    std::map<std::size_t, std::pair<BufferId, int>> owner;
    std::map<std::tuple<BufferId, int, std::int64_t>, std::size_t> cell_of;  // of first bytes
    for (Item const& item : program.items) {
      for (int step = 0; step < 2; ++step) {
        for_each_access(cells, item, step, [&](Access const& access, auto const& range) {
          auto const& buffer = program.buffers[static_cast<std::size_t>(access.buffer)];
          int const version = step % buffer.versions;
          EXPECT_LT(range.first, range.last);
          for (auto const cell : cells_of(range)) {
            std::pair const own(access.buffer, version);
            EXPECT_EQ(owner.try_emplace(cell, own).first->second, own);
          }
          auto const key = std::tuple(access.buffer, version, access.first);
          EXPECT_EQ(cell_of.try_emplace(key, range.first).first->second, range.first);
        });
      }
    }
  }
}

TEST(ByteCells, of_a_whole_buffer_are_its_own) {
  auto const program = random_program(7);
  ByteCells const cells(program);
  for (Buffer const& buffer : program.buffers) {
    auto const all = cells.all(buffer);
    EXPECT_EQ(cells.bytes(all.first).first, buffer.offset);
    EXPECT_EQ(cells.bytes(all.last - 1).last, buffer.offset + buffer.bytes);
  }
}

}  // namespace
}  // namespace spillway::test::byte_cells_test
