#include "base/process_memory.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/control_group.hpp"
#include "base/pages.hpp"

namespace spillway::process_memory_test {
namespace {

namespace fs = std::filesystem;

class ControlGroup : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(m_root); }
  void TearDown() override { fs::remove_all(m_root); }

  void write(fs::path const& name, char const* text) {
    fs::create_directories((m_root / name).parent_path());
    std::ofstream(m_root / name) << text;
  }
  ControlGroupLimits limits() const { return control_group_limits(m_root, m_root / "self"); }

  fs::path m_root = fs::path(::testing::TempDir()) / "spillway-control-group";
};

TEST(ProcessMemory, grows_with_touched_memory_and_remembers_the_peak) {
  auto const before = process_memory();
  ASSERT_GT(before.resident_bytes, 0);
  constexpr std::size_t kBytes = std::size_t{48} << 20;
  { std::vector<char> const touched(kBytes, 1); }
  EXPECT_GE(process_memory().peak_resident_bytes,
            before.resident_bytes + static_cast<std::int64_t>(kBytes) * 9 / 10);
}

TEST(ProcessMemory, forgets_what_was_given_back_but_for_the_peak) {
  { Pages const touched(std::size_t{48} << 20); }
  auto const after = process_memory();
  EXPECT_LT(after.resident_bytes + (std::int64_t{40} << 20), after.peak_resident_bytes);
}

TEST(ProcessMemory, the_machine_has_memory_and_cores) {
  EXPECT_GT(available_memory_bytes(), 0);
  EXPECT_GE(available_cores(), 1);
}

TEST_F(ControlGroup, version2_takes_the_tightest_ancestor_and_counts_cache_as_free) {
  write("self", "0::/job/step\n");
  write("job/memory.max", "1000\n");
  write("job/memory.current", "600\n");
  write("job/memory.stat", "anon 1\ninactive_file 100\n");
  write("job/step/memory.max", "max\n");
  write("job/step/memory.current", "500\n");
  write("job/step/cpu.max", "150000 100000\n");
  write("job/cpu.max", "max 100000\n");
  EXPECT_EQ(limits().memory_left_bytes, 500);
  EXPECT_EQ(limits().memory_bytes, 1000);
  EXPECT_EQ(limits().cores, 1.5);
}

TEST_F(ControlGroup, version1_reads_its_controllers) {
  write("self", "5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/\n");
  write("memory/job/memory.limit_in_bytes", "4096\n");
  write("memory/job/memory.usage_in_bytes", "96\n");
  write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("memory/memory.usage_in_bytes", "5\n");
  write("cpu/job/cpu.cfs_quota_us", "-1\n");
  write("cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limits().memory_left_bytes, 4000);
  EXPECT_EQ(limits().memory_bytes, 4096);
  EXPECT_EQ(limits().cores, std::nullopt);
}

TEST_F(ControlGroup, main_memory_is_the_machines_or_what_the_group_may_take_of_it) {
  write("meminfo",
        "MemTotal:       8 kB\nMemFree:  1 kB\nMemAvailable:   5 kB\nSwapTotal: 99 kB\n");
  auto const memory = [&] { return main_memory(m_root / "meminfo", limits()); };
  EXPECT_EQ(memory().total_bytes, 8192);
  EXPECT_EQ(memory().available_bytes, 5120);
  write("self", "0::/job\n");
  write("job/memory.max", "4096\n");
  EXPECT_EQ(memory().total_bytes, 4096);
  EXPECT_EQ(memory().available_bytes, 5120);  // how much of it is in use is not known
  write("job/memory.current", "1000\n");
  EXPECT_EQ(memory().available_bytes, 3096);
  write("job/memory.max", "99999999\n");
  EXPECT_EQ(memory().total_bytes, 8192);
  EXPECT_EQ(memory().available_bytes, 5120);
}

// Slurm and systemd name groups with colons.
TEST_F(ControlGroup, a_path_may_have_a_colon) {
  write("self", "0::/system.slice/docker:a1:b2/step\n");
  write("system.slice/docker:a1:b2/step/memory.max", "7000\n");
  write("system.slice/docker:a1:b2/step/cpu.max", "300000 100000\n");
  EXPECT_EQ(limits().memory_bytes, 7000);
  EXPECT_EQ(limits().cores, 3);
}

TEST_F(ControlGroup, every_level_up_to_the_mount_counts) {
  write("self", "0::/job/step/task\n");
  write("memory.max", "900\n");
  write("memory.current", "100\n");
  write("cpu.max", "400000 100000\n");
  write("job/memory.max", "2000\n");
  write("job/memory.current", "1950\n");
  write("job/memory.stat", "inactive_anon 3\ninactive_file 30\n");
  write("job/cpu.max", "250000 100000\n");
  write("job/step/memory.max", "1000\n");
  write("job/step/memory.current", "50\n");
  write("job/step/task/cpu.max", "600000 200000\n");
  EXPECT_EQ(limits().memory_bytes, 900);
  EXPECT_EQ(limits().memory_left_bytes, 80) << "of the group that is nearest to its limit";
  EXPECT_EQ(limits().cores, 2.5);
}

TEST_F(ControlGroup, what_is_left_is_never_less_than_nothing_nor_more_than_the_limit) {
  write("self", "0::/job\n");
  write("job/memory.max", "1000\n");
  write("job/memory.current", "1500\n");
  EXPECT_EQ(limits().memory_left_bytes, 0);
  write("job/memory.current", "20\n");
  write("job/memory.stat", "inactive_file 90\n");
  EXPECT_EQ(limits().memory_left_bytes, 1000);
}

TEST_F(ControlGroup, version1_has_its_own_names_for_the_same) {
  write("self", "7:cpuset:/other\n5:hugetlb,memory:/a/b\n4:cpu,cpuacct:/c:d\n");
  write("memory/a/b/memory.limit_in_bytes", "5000\n");
  write("memory/a/b/memory.usage_in_bytes", "900\n");
  write("memory/a/b/memory.stat", "inactive_file 1\ntotal_inactive_file 200\n");
  write("memory/a/memory.limit_in_bytes", "4500\n");
  write("memory/a/memory.usage_in_bytes", "300\n");
  write("cpu/c:d/cpu.cfs_quota_us", "350000\n");
  write("cpu/c:d/cpu.cfs_period_us", "100000\n");
  write("cpuset/other/memory.limit_in_bytes", "1\n");
  EXPECT_EQ(limits().memory_bytes, 4500);
  EXPECT_EQ(limits().memory_left_bytes, 4200);
  EXPECT_EQ(limits().cores, 3.5);
}

TEST(AvailableCores, are_the_whole_ones_of_the_quota_and_at_least_one) {
  EXPECT_EQ(available_cores(8, {}), 8);
  EXPECT_EQ(available_cores(8, 2.9), 2);
  EXPECT_EQ(available_cores(8, 64), 8);
  EXPECT_EQ(available_cores(8, 9e13), 8) << "which no int holds";
  EXPECT_EQ(available_cores(8, 0.5), 1);
}

TEST(AvailableCores, are_those_on_which_the_thread_may_run) {
  std::thread([] {
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    std::size_t core = 0;
    while (!CPU_ISSET(core, &all)) ++core;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(available_cores(), 1);
  }).join();
}

TEST_F(ControlGroup, a_period_of_nothing_is_no_limit) {
  write("self", "3:cpu:/job\n");
  write("cpu/job/cpu.cfs_quota_us", "50000\n");
  write("cpu/job/cpu.cfs_period_us", "0\n");
  EXPECT_EQ(limits().cores, std::nullopt);
}

TEST_F(ControlGroup, no_limits_mean_none) {
  EXPECT_EQ(limits().memory_left_bytes, std::nullopt);
  EXPECT_EQ(limits().cores, std::nullopt);
}

}  // namespace
}  // namespace spillway::process_memory_test
