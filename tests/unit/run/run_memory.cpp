// The memory of a run grows and shrinks with its plans.
#include "run/run_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "base/process_memory.hpp"
#include "device/host/host_device.hpp"
#include "io/ring/probe.hpp"
#include "tests/support/device_under_test.hpp"

namespace spillway::run_memory_test {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

Program needing(std::int64_t device_bytes, std::int64_t host_bytes) {
  Program program;
  program.peak_bytes = {device_bytes, host_bytes, 0};
  return program;
}

TEST(RunMemory, holds_another_plan_and_gives_back_what_that_does_not_need) {
  RunMemory memory({}, host_device(), needing(kMiB, 0), {128 * kMiB, 64 * kMiB, 0});
  EXPECT_EQ(memory.room().device_bytes, 128 * kMiB);
  EXPECT_EQ(memory.room().host_bytes, 64 * kMiB);
  EXPECT_EQ(memory.room().nvme_bytes, 0);  // there is no file
  auto const& device = *memory.tiers().device_memory;
  auto* const state = static_cast<std::byte*>(device.at(0, kMiB).operand());
  *state = std::byte{7};
  memory.resize(needing(128 * kMiB, 64 * kMiB));
  EXPECT_EQ(device.at(0, 128 * kMiB).operand(), state);
  std::memset(state + 1, 1, 128 * kMiB - 1);
  auto const before = process_memory().resident_bytes;
  memory.resize(needing(kMiB, 0));
  EXPECT_LT(process_memory().resident_bytes, before - 100 * kMiB);
  EXPECT_EQ(*state, std::byte{7});
  EXPECT_EQ(device.bytes(), kMiB);
}

// A Program whose drive reads bytes [first, last) of the device tier.
Program reading(std::int64_t first, std::int64_t last, std::int64_t peak_bytes) {
  auto program = needing(peak_bytes, 0);
  program.peak_bytes[Tier::nvme] = last - first;
  for (auto const& [tier, offset] :
       {std::pair(Tier::nvme, std::int64_t{0}), {Tier::device, first}}) {
    Buffer buffer;
    buffer.id = static_cast<BufferId>(program.buffers.size());
    buffer.tier = tier;
    buffer.bytes = last - first;
    buffer.offset = offset;
    program.buffers.push_back(std::move(buffer));
  }
  Item item;
  item.lane = Lane::nvme_read;
  item.kind = ItemKind::copy;
  item.operands = {0, 1};
  item.reads = {{0, 0, last - first, {}}};
  item.writes = {{1, 0, last - first, {}}};
  program.items.push_back(item);
  return program;
}

Config spilling(std::optional<Backend> backend) {
  Config config;
  config.debug.force_backend = backend;
  config.memory.nvme_paths = std::vector<std::string>{::testing::TempDir()};
  return config;
}

TEST(RunMemory, registers_what_the_drive_uses_on_the_cores_only_when_asked) {
  auto const program = reading(kMiB, 3 * kMiB, 8 * kMiB);
  for (auto const backend : {std::optional<Backend>{}, std::optional(Backend::uring_plain),
                             std::optional(Backend::posix)}) {
    auto const config = spilling(backend);
    RunMemory memory(config, host_device(), program);
    memory.make_spill_file(config, program, 0);
    EXPECT_EQ(memory.held_bytes(), 0) << word(backend);
    EXPECT_EQ(memory.room().nvme_bytes, 2 * kMiB) << "the file's";
    EXPECT_EQ(memory.tiers().spill, memory.spill());
    EXPECT_STRNE(memory.spill()->backend(), "uring");
    if (backend) {
      EXPECT_EQ(memory.spill()->backend(), word(*backend));
    }
  }
}

TEST(RunMemory, registers_anew_what_a_new_plan_uses_and_gives_back_what_it_does_not) {
  if (!probe_ring(200 * kMiB).fixed_buffers)
    GTEST_SKIP() << "no registered buffers on this machine";
  auto const config = spilling(Backend::uring);
  auto const program = reading(kMiB, 3 * kMiB, 8 * kMiB);
  auto const before = process_memory().resident_bytes;
  RunMemory memory(config, host_device(), program, {256 * kMiB, 0, 0});
  memory.make_spill_file(config, program, 0);
  EXPECT_EQ(memory.held_bytes(), 2 * kMiB);
  EXPECT_STREQ(memory.spill()->backend(), "uring");
  memory.resize(reading(0, 180 * kMiB, 200 * kMiB));
  EXPECT_EQ(memory.held_bytes(), 180 * kMiB);
  EXPECT_GT(process_memory().resident_bytes, before + 170 * kMiB);
  auto move = reading(0, 180 * kMiB, 200 * kMiB);
  move.once = true;
  memory.resize(move);
  EXPECT_EQ(memory.held_bytes(), 0);
  EXPECT_STREQ(memory.spill()->backend(), "uring-plain");
  memory.resize(reading(0, 4096, 4096));
  EXPECT_EQ(memory.held_bytes(), 4096);
  EXPECT_LT(process_memory().resident_bytes, before + 20 * kMiB);
}

TEST(RunMemory, moves_bytes_as_the_config_says) {
  Config config;
  config.spill.queue_depth = 7;
  EXPECT_EQ(queue_settings(config).depth, 7);
  EXPECT_EQ(queue_settings(config).backend, std::nullopt);
  for (auto const backend : {Backend::posix, Backend::uring_plain, Backend::uring}) {
    config.debug.force_backend = backend;
    EXPECT_EQ(queue_settings(config).backend, backend);
  }
}

// What becomes of writes and of reads of some places of the spill file, over several seeds.
std::vector<IoResult> results_by_seeds(int rank) {
  auto program = needing(kMiB, 0);
  program.peak_bytes[Tier::nvme] = 32 * kSpillAlignment;
  std::vector<IoResult> results;
  for (int seed = 1; seed <= 20; ++seed) {
    auto config = spilling(Backend::posix);
    config.debug.fault = "storage-random:" + std::to_string(seed);
    RunMemory memory(config, host_device(), program);
    memory.make_spill_file(config, program, rank);
    auto& spill = *memory.tiers().spill;
    std::vector<std::byte> bytes(4096, std::byte{5});
    for (int place = 0; place < 32; ++place) {
      results.push_back(spill.write(place * kSpillAlignment, bytes));
      if (results.back() != IoResult::ok) continue;
      results.push_back(spill.read(place * kSpillAlignment, bytes));
    }
  }
  return results;
}

TEST(RunMemory, has_other_faults_of_a_seed_on_other_ranks) {
  auto const first = results_by_seeds(0);
  EXPECT_EQ(first, results_by_seeds(0));
  EXPECT_NE(first, results_by_seeds(1));
}

// Of four writes and, where all went well, four reads.
TEST(RunMemory, has_the_faults_that_are_asked_for_and_no_others) {
  auto program = needing(kMiB, 0);
  program.peak_bytes[Tier::nvme] = 8 * kSpillAlignment;
  auto const failed = [&](std::string const& fault) {
    auto config = spilling(Backend::posix);
    config.debug.fault = fault;
    RunMemory memory(config, host_device(), program);
    memory.make_spill_file(config, program, 0);
    auto& spill = *memory.tiers().spill;
    std::vector<std::byte> bytes(4096);
    std::string text;
    for (int i = 0; i < 4; ++i)
      text += spill.write(i * kSpillAlignment, bytes) == IoResult::ok ? "." : "w";
    if (text != "....") return text;
    for (int i = 0; i < 4; ++i)
      text += spill.read(i * kSpillAlignment, bytes) == IoResult::ok ? "." : "r";
    return text;
  };
  EXPECT_EQ(failed("none"), "........");
  EXPECT_EQ(failed("storage-write:2"), ".w..");
  EXPECT_EQ(failed("storage-write-all:3"), "..ww");
  EXPECT_EQ(failed("storage-read:2"), ".....r..");
  EXPECT_EQ(failed("storage-read-all:3"), "......rr");
  EXPECT_EQ(failed("kill-rank:1"), "........");
}

TEST(RunMemory, of_a_device_is_pinned_and_beside_what_others_have_there) {
  EXPECT_EQ(RunMemory({}, host_device(), needing(kMiB, kMiB)).device_outside_bytes(), std::nullopt);
  EXPECT_EQ(RunMemory({}, host_device(), needing(kMiB, kMiB)).pinning(), std::nullopt);
  test::DeviceUnderTest on(false);
  if (!on.is_stand_in()) GTEST_SKIP() << "there is no stand-in without CUDA's headers";
  auto const all = on.device().properties();
  RunMemory const memory({}, on.device(), needing(8 * kMiB, 3 * kMiB));
  EXPECT_EQ(memory.device_outside_bytes(), all.memory_bytes - all.free_bytes);
  ASSERT_TRUE(memory.pinning());
  EXPECT_EQ(memory.pinning()->bytes, 3 * kMiB);
  EXPECT_EQ(memory.held_bytes(), 3 * kMiB);
}

}  // namespace
}  // namespace spillway::run_memory_test
