#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "io/ring/probe.hpp"

namespace spillway::ring_probe_test {
namespace {

TEST(RingProbe, either_rings_work_or_there_is_advice) {
  auto const probe = probe_ring(4096);
  EXPECT_EQ(probe.advice.empty(), probe.setup_error == 0 && probe.fixed_buffers &&
                                      probe.missing_features.empty() &&
                                      probe.missing_operations.empty());
  EXPECT_FALSE(probe.setup_error != 0 && probe.fixed_buffers);
}

TEST(RingProbe, the_locked_memory_limit_is_the_processs) {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  auto const probe = probe_ring(4096);
  if (limit.rlim_cur == RLIM_INFINITY) {
    EXPECT_EQ(probe.memlock_bytes, std::nullopt);
  } else {
    EXPECT_EQ(probe.memlock_bytes, static_cast<std::int64_t>(limit.rlim_cur));
  }
}

TEST(DirectoryProbe, a_directory_is_measured_and_left_clean) {
  auto const directory = std::filesystem::path(testing::TempDir()) / "directory_probe";
  std::filesystem::create_directories(directory);
  auto const probe = probe_directory(directory);
  EXPECT_EQ(probe.write_error, 0);
  EXPECT_GT(probe.free_bytes, 0);
  EXPECT_FALSE(probe.file_system.empty());
  EXPECT_EQ(probe.direct_error == 0, probe.direct_alignment_bytes >= 512);
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  std::filesystem::remove(directory);
}

TEST(DirectoryProbe, memory_passed_off_as_a_disk_is_said) {
  if (!std::filesystem::is_directory("/dev/shm")) GTEST_SKIP() << "no /dev/shm here";
  auto const probe = probe_directory("/dev/shm");
  if (probe.file_system != "tmpfs") GTEST_SKIP() << "/dev/shm is no tmpfs here";
  ASSERT_FALSE(probe.advice.empty());
  EXPECT_NE(probe.advice[0].find("tmpfs"), std::string::npos);
}

TEST(DirectoryProbe, what_is_no_drive_of_this_node_is_said) {
  for (long const magic :
       {0x6969L, 0x0bd00bd0L, 0x47504653L, 0x19830326L, 0x00c36400L, 0xff534d42L}) {
    auto const advice = place_advice("/spill", file_system_name(magic));
    EXPECT_TRUE(advice.ends_with("prefer a disk of this node for spilling")) << magic;
    EXPECT_TRUE(advice.starts_with("/spill is on ")) << advice;
  }
  for (long const magic : {0x01021994L, 0x858458f6L})
    EXPECT_NE(place_advice("/spill", file_system_name(magic)).find("in main memory"),
              std::string::npos)
        << magic;
  for (long const magic : {0xef53L, 0x58465342L, 0x9123683eL, 0x794c7630L, 0x12345L})
    EXPECT_EQ(place_advice("/spill", file_system_name(magic)), "") << magic;
  EXPECT_EQ(file_system_of("/no/such/directory"), "");
}

TEST(DirectoryProbe, a_missing_directory_is_advice_not_an_exception) {
  auto const probe = probe_directory("/nonexistent/spill");
  EXPECT_EQ(probe.write_error, ENOENT);
  ASSERT_EQ(probe.advice.size(), 1u);
  EXPECT_EQ(probe.advice[0], "/nonexistent/spill cannot be written: No such file or directory");
}

}  // namespace
}  // namespace spillway::ring_probe_test
