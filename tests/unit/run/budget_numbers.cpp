// Budgets to the byte, each from a number that no other has.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/error.hpp"
#include "base/process_memory.hpp"
#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "run/budgets.hpp"
#include "run/find_target.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/kokkos_environment.hpp"

namespace spillway::test::budget_numbers_test {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20;
constexpr auto kUnlimited = std::numeric_limits<double>::infinity();

void expect_budgets(Budgets const& budgets, Budgets const& expected) {
  EXPECT_EQ(budgets.device_bytes, expected.device_bytes);
  EXPECT_EQ(budgets.host_bytes, expected.host_bytes);
  EXPECT_EQ(budgets.nvme_bytes, expected.nvme_bytes);
  EXPECT_EQ(budgets.nvme_bytes_per_s, expected.nvme_bytes_per_s);
}

TEST(BudgetNumbers, of_the_cores_are_parts_of_one_memory) {
  Config user;
  Free const free{.memory_bytes = 100'000, .storage_bytes = 90 * kMib};
  expect_budgets(budgets(user, free, 4), {20'000, 0, 0, kUnlimited});
  user.memory.host_bytes = 5000;
  expect_budgets(budgets(user, free, 4), {15'000, 5000, 0, kUnlimited});
  user.memory.host_bytes = 30'000;
  expect_budgets(budgets(user, free, 4), {0, 30'000, 0, kUnlimited});
  user.memory.device_bytes = 7000;
  expect_budgets(budgets(user, free, 4), {7000, 30'000, 0, kUnlimited});
}

TEST(BudgetNumbers, of_a_device_are_of_two_memories_and_a_node_s_drive_is_shared) {
  Config user;
  user.memory.nvme_paths = std::vector<std::string>{"somewhere"};
  user.memory.nvme_bytes = 200 * kMib;
  user.spill.max_write_per_day_bytes = 86'400 * 4 * 10;
  Free const free{.memory_bytes = 100'000, .storage_bytes = 90 * kMib, .device_bytes = 30'000};
  // 16 MiB of the drive's part are for pieces that must move.
  expect_budgets(budgets(user, free, 4), {28'500, 20'000, 13 * kMib / 2, 10});
  user.memory.nvme_bytes = 6 * kMib;
  expect_budgets(budgets(user, free, 2), {28'500, 40'000, 6 * kMib, 20});
}

// Beside the pieces that must move, files end with stripes: 4 MiB for each drive.
TEST(BudgetNumbers, of_striped_drives_leave_room_for_what_stripes_lose) {
  Config user;
  user.memory.nvme_paths = std::vector<std::string>{"one", "two", "three"};
  user.memory.nvme_bytes = 500 * kMib;
  Free const free{.memory_bytes = 100'000, .storage_bytes = 900 * kMib, .device_bytes = 30'000};
  EXPECT_EQ(budgets(user, free, 2).nvme_bytes, 422 * kMib);
  EXPECT_EQ(budgets(user, free, 4).nvme_bytes, 197 * kMib);
}

TEST(BudgetNumbers, of_a_file_come_from_what_it_says_of_each_memory) {
  auto const unified = free_of({.host_bytes = 5, .nvme_bytes = 7}, "m.yaml");
  EXPECT_EQ(unified.memory_bytes, 5);
  EXPECT_EQ(unified.storage_bytes, 7);
  EXPECT_EQ(unified.device_bytes, std::nullopt);
  EXPECT_FALSE(unified.only_named_drives);
  EXPECT_EQ(unified.existing.node_bytes, 5);
  EXPECT_EQ(unified.existing.device_bytes, 0);
  EXPECT_EQ(unified.existing.nvme_bytes, 7);
  EXPECT_EQ(unified.existing.source, "m.yaml");
  auto const device = free_of({.device_bytes = 3, .host_bytes = 5}, "m.yaml");
  EXPECT_EQ(device.device_bytes, 3);
  EXPECT_EQ(device.existing.device_bytes, 3);
  EXPECT_EQ(device.storage_bytes, std::nullopt);
}

TEST(BudgetNumbers, of_the_cores_here_begin_with_what_is_free_of_main_memory) {
  Config user;
  auto const free = free_here(user, {host_device(), host::kernels()});
  auto const memory = main_memory();
  EXPECT_GT(free.memory_bytes, 0);
  EXPECT_LE(free.memory_bytes, memory.total_bytes);
  EXPECT_EQ(free.existing.node_bytes, memory.total_bytes);
  EXPECT_EQ(free.existing.device_bytes, 0);
  EXPECT_EQ(free.existing.nvme_bytes, 0) << "a drive is looked at, not believed";
  EXPECT_EQ(free.existing.source, "");
  EXPECT_EQ(free.device_bytes, std::nullopt);
  EXPECT_EQ(free.storage_bytes, std::nullopt) << "nobody has named a drive";
  EXPECT_TRUE(free.only_named_drives);
  user.memory.nvme_paths = std::vector<std::string>{::testing::TempDir()};
  EXPECT_TRUE(free_here(user, {host_device(), host::kernels()}).storage_bytes.has_value());
  user.memory.nvme_paths = std::vector<std::string>{::testing::TempDir(), "/no/such/directory"};
  EXPECT_THROW(free_here(user, {host_device(), host::kernels()}), Error) << "all are looked at";
}

// Some of it is taken before.
TEST(BudgetNumbers, of_a_device_here_are_a_part_for_each_rank_that_has_it) {
  DeviceUnderTest on(false);
  if (!on.is_stand_in()) GTEST_SKIP() << "there is no stand-in without CUDA's headers";
  auto const taken = on.device().reserve("some", 8 * kMib, 8 * kMib);
  auto const all = on.device().properties();
  ASSERT_LT(all.free_bytes, all.memory_bytes);
  for (int const sharers : {1, 4}) {
    auto const free = free_here({}, {on.device(), on.kernels(), sharers});
    EXPECT_EQ(free.device_bytes, all.free_bytes / sharers);
    EXPECT_EQ(free.existing.device_bytes, all.memory_bytes / sharers);
    EXPECT_EQ(free.existing.node_bytes, main_memory().total_bytes);
  }
}

TEST(BudgetNumbers, of_all_ranks_are_the_smallest_of_each_tier) {
  std::array<Budgets, 3> const all = {
      {{30, 200, 3000, 40'000.0}, {10, 300, 2000, 50'000.0}, {20, 100, 4000, 30'000.0}}};
  expect_budgets(smallest(all), {10, 100, 2000, 30'000});
}

}  // namespace
}  // namespace spillway::test::budget_numbers_test
