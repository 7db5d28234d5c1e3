// Which drives lie behind directories, and what is said of two on one drive.
#include "profile/drives.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "plan/data/machine.hpp"
#include "profile/hardware.hpp"
#include "profile/machine_probe.hpp"

namespace spillway::drives_test {
namespace {

namespace fs = std::filesystem;

class Drives : public ::testing::Test {
 protected:
  Drives() {
    fs::create_directories(m_dir / "a");
    fs::create_directories(m_dir / "b");
  }
  ~Drives() override { fs::remove_all(m_dir); }

  fs::path m_dir = fs::path(::testing::TempDir()) / "drives";
  std::string m_a = m_dir / "a", m_b = m_dir / "b";
};

// As /sys has them: a partition lies in its drive's directory, a volume names what is below it.
TEST_F(Drives, lie_behind_partitions_and_volumes) {
  auto const device = [&](std::string const& name) {
    fs::create_directories(m_dir / "devices" / name);
    return fs::canonical(m_dir / "devices" / name);
  };
  auto const drive = device("nvme0n1"), part = device("nvme0n1/nvme0n1p2"), other = device("sda"),
             volume = device("dm-0"), locked = device("dm-1"), mirror = device("md0");
  std::ofstream(part / "partition") << "2\n";
  auto const on = [&](fs::path const& upper, fs::path const& lower) {
    fs::create_directories(upper / "slaves");
    fs::create_directory_symlink(lower, upper / "slaves" / lower.filename());
  };
  on(volume, part);
  on(locked, volume);
  on(mirror, drive);
  on(mirror, other);
  fs::create_directories(drive / "slaves");
  for (auto const& [upper, lowest] : {std::pair(drive, drive),
                                      {part, drive},
                                      {volume, drive},
                                      {locked, drive},
                                      {mirror, mirror},
                                      {other, other}}) {
    fs::create_directory_symlink(upper, m_dir / "259:1");
    EXPECT_EQ(drive_behind(m_dir / "259:1"), lowest) << upper;
    fs::remove(m_dir / "259:1");
  }
  EXPECT_EQ(drive_behind(m_dir / "259:1"), "");
}

TEST_F(Drives, are_counted_once_and_shared_ones_told) {
  EXPECT_EQ(count_drives(m_a), 1);
  EXPECT_EQ(count_drives({{m_a, m_b}}), 1);
  EXPECT_EQ(count_drives({{m_a, "/proc", m_b}}), 2);
  EXPECT_TRUE(shared_drives_advice(m_a).empty());
  EXPECT_TRUE(shared_drives_advice({{m_a, "/proc"}}).empty());
  std::vector<std::string> const told = {
      m_a + " and " + m_b +
      " are on one drive, which striping makes no faster; name directories on others"};
  EXPECT_EQ(shared_drives_advice({{m_a, "/proc", m_b}}), told);
  auto const all = drives_advice({{m_a, "/proc", m_b}});
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front(), told.front());
}

TEST_F(Drives, that_are_used_otherwise_are_described_otherwise) {
  EXPECT_EQ(drives_of(m_a), drive_of(m_a));
  EXPECT_EQ(drives_of({{m_a, "/proc"}}), drive_of(m_a) + ", " + drive_of("/proc"));
  EXPECT_NE(drives_of({{m_a, m_b}}), drives_of(m_a));
}

TEST(SetDrives, last_as_much_longer_as_there_are) {
  Machine const one;
  for (std::int64_t const drives : {1, 3}) {
    Machine machine;
    set_drives(machine, drives);
    EXPECT_EQ(machine.nvme_drives, drives);
    EXPECT_EQ(machine.nvme_endurance_bytes, drives * one.nvme_endurance_bytes);
  }
}

}  // namespace
}  // namespace spillway::drives_test
