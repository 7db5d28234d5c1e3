#include "plan/time/drive_use.hpp"

#include <gtest/gtest.h>

namespace spillway::test::drive_use_test {
namespace {

Machine rated(std::int64_t terabytes, std::int64_t node_ranks) {
  Machine machine;
  machine.nvme_endurance_bytes = terabytes * 1'000'000'000'000;
  machine.node_ranks = node_ranks;
  return machine;
}

TEST(DriveUse, is_endurance_times_step_over_bytes) {
  // 1 GB in 10 s: 8.64 TB a day, and 864 TB in 100 days.
  auto const use = drive_use(1'000'000'000, 10, 1, rated(864, 1));
  EXPECT_DOUBLE_EQ(use.step_bytes, 1e9);
  EXPECT_DOUBLE_EQ(use.day_bytes, 8.64e12);
  EXPECT_DOUBLE_EQ(use.lifetime_years, 100 / 365.25);
}

TEST(DriveUse, is_that_of_all_ranks_of_a_node) {
  EXPECT_DOUBLE_EQ(drive_use(1'000, 1, 2, rated(600, 4)).step_bytes, 2'000);
  EXPECT_DOUBLE_EQ(drive_use(1'000, 1, 16, rated(600, 4)).step_bytes, 4'000);
}

TEST(DriveUse, knows_no_life_of_a_drive_that_is_not_written_to) {
  EXPECT_EQ(drive_use(0, 1, 1, rated(600, 1)).lifetime_years, 0);
  EXPECT_EQ(drive_use(1'000, 0, 1, rated(600, 1)).lifetime_years, 0);
}

// A rating of a byte is one of 2.5 bytes of cells, of which each lasts 86 times as long: SSDTrain's
// 4.2 days are its 2.4 years.
TEST(DriveUse, is_longer_for_cells_that_are_used_as_a_spill_file_uses_them) {
  auto machine = rated(864, 1);
  EXPECT_DOUBLE_EQ(wear_gain(machine), 215);
  auto use = drive_use(1'000'000'000, 10, 1, machine);
  EXPECT_DOUBLE_EQ(use.used_lifetime_years, 215 * use.lifetime_years);
  EXPECT_NEAR(4.2 * wear_gain(machine) / 365.25, 2.4, 0.1);
  machine.nvme_rated_amplification = 3;
  machine.nvme_write_amplification = 1.5;
  machine.nvme_retention_gain = 10;
  EXPECT_DOUBLE_EQ(wear_gain(machine), 20);
  EXPECT_EQ(wear_words(machine),
            "writes amplified 1.5 x, rated 3 x; data kept a day: 10 x the writes");
  use = drive_use(1'000'000'000, 10, 1, machine);
  EXPECT_DOUBLE_EQ(use.used_lifetime_years, 2000 / 365.25);
  EXPECT_EQ(drive_use(0, 1, 1, machine).used_lifetime_years, 0);
}

TEST(DriveUse, reads_as_drives_are_rated) {
  EXPECT_EQ(drive_bytes(600e12), "600 TB");
  EXPECT_EQ(drive_bytes(14.016e15), "14 PB");
  EXPECT_EQ(drive_bytes(999.9e9), "1 TB");
  EXPECT_EQ(drive_bytes(45.6e9), "45.6 GB");
  EXPECT_EQ(drive_bytes(999.6e6), "1 GB");
  EXPECT_EQ(drive_bytes(999.4e6), "999 MB");
  EXPECT_EQ(drive_bytes(3.21e6), "3.21 MB");
  EXPECT_EQ(drive_bytes(12'300), "12.3 kB");
  EXPECT_EQ(drive_life(0.5), "183 days");
  EXPECT_EQ(drive_life(0.99), "362 days");
  EXPECT_EQ(drive_life(1), "1 year");
  EXPECT_EQ(drive_life(1.04), "1.04 years");
  EXPECT_EQ(drive_life(2.5), "2.5 years");
  EXPECT_EQ(drive_life(1234), "1234 years");
}

}  // namespace
}  // namespace spillway::test::drive_use_test
