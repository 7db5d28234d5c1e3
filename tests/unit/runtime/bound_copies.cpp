// What copies are bound to: the bytes of either version, and whether a failure matters.
#include <gtest/gtest.h>

#include "device/host/host_device.hpp"
#include "io/spill/spill_file.hpp"
#include "runtime/bind.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made.hpp"

namespace spillway::test::bound_copies_test {
namespace {

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;

// A buffer `a` of the device and `b` of the drive, both of two versions, and control words.
class BoundCopies : public ::testing::Test {
 protected:
  BoundCopies() {
    made.segment("last");
    made.buffer(Tier::device, 3 * kMiB);
    made.buffer(Tier::nvme, 3 * kMiB);
    made.buffer(Tier::device, 64);
    place(0, kMiB, 5 * kMiB);
    place(1, 192 * kKiB, 6 * kMiB);
    place(2, 4 * kKiB, kKiB);
    made.program.peak_bytes = {16 * kMiB, 0, 16 * kMiB};
    tiers.emplace(host_device(), made.program.peak_bytes, nullptr);
  }
  void place(BufferId id, std::int64_t offset, std::int64_t stride) {
    auto& buffer = made.program.buffers[id];
    buffer.offset = offset;
    buffer.versions = 2;
    buffer.stride = stride;
  }
  Item& copy(Lane lane, BufferId from, BufferId to) {
    auto& item = made.program.items[made.item(lane, {from}, {to})];
    item.kind = ItemKind::copy;
    item.operands = {from, to};
    return item;
  }
  BoundItem bound(Item const& item, bool checksums = true) {
    SpillSettings settings;
    settings.checksums = checksums;
    settings.spare_bytes = 0;
    spill.emplace(::testing::TempDir(), made.program.peak_bytes[2], settings);
    tiers->spill = &*spill;
    EngineParts const parts{made.program, *tiers, KernelTable(fake_kernel), *comm, batches, {}};
    return bind_item(parts, {exec, nullptr, state_lost}, item);
  }
  // Where in the device's arena bytes begin.
  std::int64_t at(void const* bytes) const {
    return static_cast<std::byte const*>(bytes) - tiers->device.on_host(all()).data();
  }
  DeviceBytes all() const { return tiers->device_memory->at(0, 16 * kMiB); }
  void expect_transfer(BoundItem const& item, Direction direction) const {
    ASSERT_TRUE(item.transfer);
    EXPECT_FALSE(item.run);
    for (std::size_t v = 0; v < 2; ++v) {
      auto const& one = item.transfer->versions[v];
      auto const version = static_cast<std::int64_t>(v);
      EXPECT_EQ(one.direction, direction);
      EXPECT_EQ(at(one.memory.data()), kMiB + 512 * kKiB + version * 5 * kMiB);
      EXPECT_EQ(std::ssize(one.memory), 700 * kKiB);
      EXPECT_EQ(one.offset_bytes, 192 * kKiB + kMiB + version * 6 * kMiB);
    }
    EXPECT_EQ(item.go[0], nullptr);
    EXPECT_EQ(item.go[1], nullptr);
  }

  HandMade made;
  std::optional<Tiers> tiers;
  std::optional<SpillFile> spill;
  std::unique_ptr<Comm> comm = make_single_rank_comm();
  NoBatches batches;
  Exec exec;
  std::atomic<bool> state_lost = false;
};

// Accesses with a gap between them, in no order; the copy takes the gap along.
TEST_F(BoundCopies, move_what_their_accesses_cover_in_either_version) {
  std::vector<Access> const of_a = {{0, 1000 * kKiB, 1212 * kKiB, {}},
                                    {0, 512 * kKiB, 600 * kKiB, {}}};
  std::vector<Access> const of_b = {{1, kMiB, kMiB + 700 * kKiB, {}}};
  auto& there = copy(Lane::nvme_write, 0, 1);
  there.reads = of_a;
  there.writes = of_b;
  expect_transfer(bound(there), Direction::write);
  auto& back = copy(Lane::nvme_read, 1, 0);
  back.reads = of_b;
  back.writes = of_a;
  expect_transfer(bound(back), Direction::read);
}

TEST_F(BoundCopies, matter_where_state_or_what_updates_read_is_moved) {
  auto const matters = [&](Lane lane, BufferId from, BufferId to, bool checksums = true) {
    return bound(copy(lane, from, to), checksums).transfer->matters;
  };
  auto& program = made.program;
  EXPECT_TRUE(matters(Lane::nvme_read, 1, 0));
  EXPECT_FALSE(matters(Lane::nvme_write, 0, 1));
  for (BufferId const state : {0, 1}) {
    program.buffers[state].persistent = true;
    EXPECT_TRUE(matters(Lane::nvme_write, 0, 1)) << state;
    program.buffers[state].persistent = false;
  }
  EXPECT_FALSE(matters(Lane::nvme_write, 0, 1, false)) << "its step is done again";
  program.buffers[1].spanning = true;
  EXPECT_TRUE(matters(Lane::nvme_write, 0, 1, false)) << "the commit does not wait for it";
  EXPECT_FALSE(matters(Lane::nvme_write, 0, 1, true)) << "its update would notice";
  program.buffers[1].spanning = false;
  program.redo = false;
  EXPECT_TRUE(matters(Lane::nvme_write, 0, 1, false)) << "nobody would notice before an update";
  EXPECT_FALSE(matters(Lane::nvme_write, 0, 1, true)) << "its reload would notice";
}

TEST_F(BoundCopies, that_take_state_back_go_by_the_control_words_of_their_step) {
  auto& item = copy(Lane::nvme_write, 0, 1);
  item.operands.push_back(2);
  auto const back = bound(item);
  EXPECT_EQ(at(back.go[0]), 4 * kKiB + 8 * control_go);
  EXPECT_EQ(at(back.go[1]), 5 * kKiB + 8 * control_go);
}

}  // namespace
}  // namespace spillway::test::bound_copies_test
