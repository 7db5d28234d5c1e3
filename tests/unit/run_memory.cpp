// The memory of a run grows and shrinks with its plans.
#include "train/run_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "device/host/host_device.hpp"
#include "runtime/process_memory.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

Program needing(std::int64_t device_bytes, std::int64_t host_bytes) {
  Program program;
  program.peak_bytes = {device_bytes, host_bytes, 0};
  return program;
}

TEST(RunMemory, HoldsAnotherPlanAndGivesBackWhatThatDoesNotNeed) {
  RunMemory memory({}, host_device(), needing(kMiB, 0), {128 * kMiB, 64 * kMiB, 0});
  EXPECT_EQ(memory.room().device_bytes, 128 * kMiB);
  EXPECT_EQ(memory.room().host_bytes, 64 * kMiB);
  EXPECT_EQ(memory.room().nvme_bytes, 0);  // there is no file
  auto const& device = *memory.tiers().device_memory;
  auto* const state = static_cast<std::byte*>(device.at(0, kMiB).operand());
  *state = std::byte{7};
  memory.resize({128 * kMiB, 64 * kMiB, 0});
  EXPECT_EQ(device.at(0, 128 * kMiB).operand(), state);
  std::memset(state + 1, 1, 128 * kMiB - 1);
  auto const before = process_memory().resident_bytes;
  memory.resize({kMiB, 0, 0});
  EXPECT_LT(process_memory().resident_bytes, before - 100 * kMiB);
  EXPECT_EQ(*state, std::byte{7});
  EXPECT_EQ(device.bytes(), kMiB);
}

TEST(RunMemory, KeepsItsDeviceArenaWhereTheRingKnowsItsPages) {
  Config config;
  config.debug.force_backend = "uring";
  RunMemory memory(config, host_device(), needing(8 * kMiB, 0), {128 * kMiB, 0, 0});
  EXPECT_EQ(memory.room().device_bytes, 8 * kMiB);
  memory.resize({kMiB, 0, 0});
  EXPECT_EQ(memory.tiers().device_memory->bytes(), 8 * kMiB);
}

}  // namespace
}  // namespace spillway
