// Ranges for the drive hold the pages that the drive reads or writes, and no others.
#include "plan/memory/drive_ranges.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/compile/compile.hpp"
#include "plan/memory/layout.hpp"
#include "plan/memory/lifetime.hpp"
#include "plan/schedule/schedule.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test::drive_ranges_test {
namespace {

Program random_planned(unsigned seed) {
  Random random(seed);
  Graph const graph = gpt_training_graph(random_shape(random));
  auto program = schedule(graph, random_plan(graph, random), 2, 1);
  Program* programs[] = {&program};
  layout(programs);
  return program;
}

// A flag for each page of the drive's tier, from what items copy.
std::vector<bool> pages_copied(Program const& program) {
  auto const tier = program.unified ? Tier::device : Tier::host;
  auto const peak = program.peak_bytes[tier];
  std::vector<bool> pages(static_cast<std::size_t>((peak + kPageBytes - 1) / kPageBytes), false);
  for (Item const& item : program.items) {
    bool const reads = item.lane == Lane::nvme_read;
    if (!reads && item.lane != Lane::nvme_write) continue;
    Access const& access = reads ? item.writes.at(0) : item.reads.at(0);
    Buffer const& buffer = program.buffers[access.buffer];
    EXPECT_EQ(buffer.tier, tier) << describe(program, item.number);
    for (auto offset : {buffer.offset, buffer.offset + (buffer.versions - 1) * buffer.stride}) {
      auto const last = (offset + access.last - 1) / kPageBytes;
      for (auto page = (offset + access.first) / kPageBytes; page <= last; ++page)
        pages[static_cast<std::size_t>(page)] = true;
    }
  }
  return pages;
}

std::int64_t sum_bytes(std::vector<ByteRange> const& ranges) {
  std::int64_t sum = 0;
  for (auto const& [first, last] : ranges) sum += last - first;
  return sum;
}

TEST(DriveRanges, hold_the_pages_that_the_drive_copies_and_no_others) {
  int with_drive = 0, without = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    auto const program = random_planned(seed);
    auto const ranges = drive_ranges(program);
    auto const expected = pages_copied(program);
    std::vector<bool> pages(expected.size(), false);
    std::int64_t end = -1;
    for (auto const& [first, last] : ranges) {
      ASSERT_EQ(first % kPageBytes, 0);
      ASSERT_LT(end, first) << "ranges that touch are one";
      ASSERT_LT(first, last);
      end = last;
      for (auto byte = first; byte < last; byte += kPageBytes)
        pages.at(static_cast<std::size_t>(byte / kPageBytes)) = true;
    }
    EXPECT_TRUE(pages == expected);
    EXPECT_LE(end, program.peak_bytes[drive_tier(program.unified)]);
    ++(ranges.empty() ? without : with_drive);
  }
  EXPECT_GT(with_drive, 20);
  EXPECT_GT(without, 0);
}

// To the byte: of both versions, joined where they touch, up to the tier's end; neither control
// words nor what other lanes copy.
TEST(DriveRanges, are_the_pages_of_both_versions_of_what_the_drive_copies) {
  Program program;
  program.peak_bytes = {100'000, 8192, 1 << 20};
  auto const buffer = [&](Tier tier, std::int64_t offset, std::int64_t bytes,
                          std::int64_t stride = 0) {
    Buffer added;
    added.id = static_cast<BufferId>(program.buffers.size());
    added.tier = tier;
    added.offset = offset;
    added.bytes = bytes;
    added.stride = stride;
    added.versions = stride > 0 ? 2 : 1;
    program.buffers.push_back(added);
    return added.id;
  };
  auto const away = buffer(Tier::nvme, 0, 1 << 19);
  auto const a = buffer(Tier::device, 8192, 4096, 40'960);  // and [49'152, 53'248)
  auto const b = buffer(Tier::device, 53'248, 8192);        // behind a's second version
  auto const end = buffer(Tier::device, 98'304, 1696);
  auto const control = buffer(Tier::device, 81'920, 64), other = buffer(Tier::host, 0, 4096);
  auto const copy = [&](Lane lane, BufferId from, BufferId to, std::vector<Access> reads,
                        std::vector<Access> writes) {
    Item item;
    item.lane = lane;
    item.operands = {from, to, control};
    item.reads = std::move(reads);
    item.writes = std::move(writes);
    program.items.push_back(std::move(item));
  };
  using enum Lane;
  copy(nvme_write, a, away, {{a, 1, 4095, {}}, {control, 0, 64, {}}}, {{away, 0, 4094, {}}});
  copy(nvme_read, away, b, {{away, 0, 10, {}}}, {{b, 0, 10, {}}});
  copy(nvme_read, away, end, {{away, 0, 1696, {}}}, {{end, 0, 1696, {}}});
  copy(nvme_write, other, away, {{other, 0, 4096, {}}}, {{away, 0, 4096, {}}});
  copy(h2d, other, control, {{other, 0, 64, {}}}, {{control, 0, 64, {}}});
  std::vector<std::int64_t> bounds;
  for (auto const& [first, last] : drive_ranges(program)) {
    bounds.push_back(first);
    bounds.push_back(last);
  }
  EXPECT_EQ(bounds, (std::vector<std::int64_t>{8192, 12'288, 49'152, 57'344, 98'304, 100'000}));
}

// Activations and gradients in the same tier do not count, nor does evaluation need more.
TEST(DriveRanges, are_rings_and_update_slots_beside_a_device) {
  GptShape const shape{.layers = 4, .hidden = 256, .heads = 4, .vocab = 300, .sequence = 640};
  Graph const graph = gpt_training_graph(shape), eval = gpt_graph(shape, Purpose::eval);
  auto plan = make_plan(graph,
                        PlanWords{.activations = {"host"},
                                  .parameters = {"nvme"},
                                  .gradients = {"host"},
                                  .optimizer = {"nvme"},
                                  .update = {"host"}},
                        BlockPolicy::keep);
  plan.unified = false;
  auto const compiled = compile(graph, &eval, plan, 2, 1);
  auto const ranges = drive_ranges(compiled.train);
  std::int64_t rings = 0, slots = 0;
  for (Buffer const& buffer : compiled.train.buffers) {
    if (buffer.reserved) rings += buffer.bytes;
    if (buffer.name.starts_with("update.")) slots += footprint_bytes(buffer);
  }
  EXPECT_GT(sum_bytes(ranges), rings);
  EXPECT_LE(sum_bytes(ranges), rings + slots);
  EXPECT_LT(sum_bytes(ranges), compiled.train.peak_bytes[Tier::host] / 2);
  for (auto const& part : drive_ranges(*compiled.eval)) {
    auto const holds = [&](ByteRange const& r) {
      return r.first <= part.first && part.last <= r.last;
    };
    EXPECT_TRUE(std::ranges::any_of(ranges, holds)) << part.first;
  }
}

}  // namespace
}  // namespace spillway::test::drive_ranges_test
