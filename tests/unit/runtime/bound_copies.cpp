// What copies are bound to: the bytes of either version, and whether a failure matters.
#include <gtest/gtest.h>

#include <cstring>

#include "device/host/host_device.hpp"
#include "io/spill/spill_file.hpp"
#include "runtime/bind.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made.hpp"

namespace spillway::test::bound_copies_test {
namespace {

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;

class OneOfFour final : public Comm {
 public:
  explicit OneOfFour(int rank) : Comm({rank, 4, rank, 4, 0}) {}
  [[noreturn]] void abort(int) override { std::abort(); }

 private:
  void exchange(Traffic, std::span<Outgoing const>, std::span<Incoming const>) override {}
};

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

// Of four ranks the third has a short slice of 10 000 elements, and the last one has none.
TEST_F(BoundCopies, of_slices_move_what_a_rank_has_of_them) {
  auto& program = made.program;
  auto const whole = made.buffer(Tier::device, 40'000), slice = made.buffer(Tier::device, 16'384);
  program.tensors[whole].dtype = DType::f32;
  program.tensors[whole].shape = {10'000};
  program.buffers[whole].offset = 0;
  program.buffers[slice].offset = 65'536;
  program.buffers[slice].tensor = whole;
  program.buffers[slice].part = {0, true};
  program.ranks = 4;
  auto const& item = copy(Lane::h2d, whole, slice);
  for (auto const& [rank, first, size] :
       {std::tuple(0, 0, 16'384), {1, 16'384, 16'384}, {2, 32'768, 7232}, {3, 40'000, 0}}) {
    SCOPED_TRACE(rank);
    comm = std::make_unique<OneOfFour>(rank);
    auto const memory = host_device().on_host(all());
    for (std::size_t i = 0; i < 40'000; ++i) memory[i] = static_cast<std::byte>(i % 251 + 1);
    std::memset(memory.data() + 65'536, 0, 20'000);
    bound(item).run({});
    for (std::size_t i = 0; i < 20'000; ++i) {
      bool const is_moved = i < static_cast<std::size_t>(size);
      auto const from = i + static_cast<std::size_t>(first);
      ASSERT_EQ(memory[65'536 + i], is_moved ? memory[from] : std::byte{0}) << i;
    }
  }
}

TEST_F(BoundCopies, hold_bytes_of_their_tensors_by_rank) {
  Program program;
  program.ranks = 3;
  program.tensors.resize(1);
  program.tensors[0].dtype = DType::bf16;
  program.tensors[0].shape = {100, 100};  // a rank has a tile of 4096 elements
  Buffer buffer;
  buffer.tensor = 0;
  auto const expect = [&](int rank, std::int64_t first, std::int64_t last) {
    auto const held = held_bytes(program, buffer, rank);
    EXPECT_EQ(held.first, first) << rank;
    EXPECT_EQ(held.last, last) << rank;
  };
  buffer.bytes = 20'000;
  expect(2, 0, 20'000);
  buffer.bytes = 600;
  buffer.part = {50, false};
  expect(2, 50, 650);
  buffer.part = {19'600, false};
  expect(0, 19'600, 20'000);
  buffer.bytes = 8192;
  buffer.part = {0, true};
  expect(0, 0, 8192);
  expect(1, 8192, 16'384);
  expect(2, 16'384, 20'000);
  buffer.bytes = 4096;
  buffer.part = {4096, true};
  expect(1, 12'288, 16'384);
}

}  // namespace
}  // namespace spillway::test::bound_copies_test
