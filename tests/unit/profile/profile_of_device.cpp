// Measuring a machine whose device has memory of its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "comm/comm.hpp"
#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "profile/drives.hpp"
#include "profile/link_bench.hpp"
#include "run/measured_machine.hpp"
#include "run/profile_key.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::profile_of_device_test {
namespace {

constexpr std::int64_t kMost = std::int64_t{64} << 20;

RunCores four_cores() {
  RunCores cores;
  cores.mine = cores.fewest = 4;
  return cores;
}

class ProfileOfDevice : public ::testing::Test {
 protected:
  ProfileOfDevice() { std::filesystem::remove_all(m_directory); }
  ~ProfileOfDevice() override { std::filesystem::remove_all(m_directory); }

  Machine measured(Compute const& compute, Config const& config = tiny_config()) const {
    auto const alone = make_single_rank_comm();
    return measured_machine(config, kTinyVocab, {1, 2}, four_cores(), kMost, compute, *alone,
                            ProfileCache(m_directory));
  }
  // Main memory counts as a second drive, where one may write there.
  static std::vector<std::string> drives() {
    std::vector<std::string> directories = {::testing::TempDir()};
    if (::access("/dev/shm", W_OK) == 0) directories.emplace_back("/dev/shm");
    return directories;
  }
  static Config with_drive() {
    auto config = tiny_config();
    config.memory.nvme_paths = drives();
    return config;
  }

  std::filesystem::path m_directory =
      std::filesystem::path(::testing::TempDir()) / "profiles-of-device";
};

TEST_F(ProfileOfDevice, knows_its_memory_its_link_and_every_op) {
  DeviceUnderTest on(false);
  if (!on.is_stand_in()) GTEST_SKIP() << "there is no stand-in without CUDA's headers";
  Compute const compute{on.device(), on.kernels()};
  auto const free_bytes = on.device().properties().free_bytes;
  auto const machine = measured(compute, with_drive());
  EXPECT_EQ(on.device().properties().free_bytes, free_bytes) << "all of it is given back";
  on.expect_sound();
  EXPECT_FALSE(machine.is_unified());
  EXPECT_EQ(machine.device_bytes, on.device().properties().memory_bytes);
  EXPECT_EQ(machine.target, "host") << "whose kernels these are";
  EXPECT_EQ(machine.compute_cores, 1) << "the thread that launches";
  EXPECT_EQ(machine.cores, 4);
  EXPECT_GE(machine.host_cores, 1);
  EXPECT_EQ(machine.nvme_drives, count_drives(drives()));
  EXPECT_EQ(machine.nvme_endurance_bytes, machine.nvme_drives * Machine{}.nvme_endurance_bytes);
  for (double const rate : {machine.h2d_gbps, machine.d2h_gbps, machine.memory_gbps,
                            machine.matmul_gflops_f32, machine.nvme_write_gbps})
    EXPECT_GT(rate, 0);
  ASSERT_FALSE(machine.op_s.empty());
  for (auto const& [key, s] : machine.op_s) EXPECT_GT(s, 0) << key;
  for (auto const* const kind : {"matmul", "attention_backward", "adamw", "host adamw"})
    EXPECT_GT(number_or(machine.kind_giga_per_s, kind, 0), 0) << kind;
}

TEST_F(ProfileOfDevice, is_found_again) {
  DeviceUnderTest on(false);
  if (!on.is_stand_in()) GTEST_SKIP() << "there is no stand-in without CUDA's headers";
  Compute const compute{on.device(), on.kernels()};
  auto const machine = measured(compute);
  EXPECT_EQ(to_yaml(measured(compute)), to_yaml(machine)) << "nothing is measured again";
  on.expect_sound();
  EXPECT_NE(profile_key(tiny_config(), {1, 2}, 4, 1, compute),
            profile_key(tiny_config(), {1, 2}, 4, 1, {host_device(), host::kernels()}));
}

TEST_F(ProfileOfDevice, of_the_host_is_of_main_memory) {
  auto const machine = measured({host_device(), host::kernels()});
  EXPECT_TRUE(machine.is_unified());
  EXPECT_EQ(machine.target, "host");
  EXPECT_EQ(machine.host_cores, 1);
  EXPECT_EQ(machine.compute_cores, std::min(4, host::make_exec(nullptr)->concurrency()));
  EXPECT_GT(machine.h2d_gbps, 0);
}

TEST(LinkRates, are_the_lower_ones_that_are_known) {
  auto const rates = slower({1, 0}, {2, 3});
  EXPECT_EQ(rates.h2d_gbps, 1);
  EXPECT_EQ(rates.d2h_gbps, 3);
}

}  // namespace
}  // namespace spillway::test::profile_of_device_test
