#include "profile/machine_probe.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::machine_probe_test {
namespace {

// On whatever machine, but in the right unit.
bool plausible(double rate) {
  return rate > 1e-4 && rate < 1e6;
}

TEST(MachineProbe, measures_the_runs_precision_and_memory) {
  Compute const compute{host_device(), host::kernels()};
  Arithmetic arithmetic;
  arithmetic.precision = Precision::fp32;
  auto const f32 = probe_machine(compute, arithmetic);
  EXPECT_EQ(f32.matmul_gflops_bf16, 0);
  EXPECT_EQ(f32.nvme_write_gbps, 0);
  EXPECT_EQ(f32.compute_cores, host::make_exec(nullptr)->concurrency());
  EXPECT_TRUE(plausible(f32.h2d_gbps));
  EXPECT_EQ(f32.d2h_gbps, f32.h2d_gbps);
  EXPECT_TRUE(plausible(f32.matmul_gflops_f32));
  EXPECT_TRUE(plausible(f32.memory_gbps));
  arithmetic.precision = Precision::bf16;
  auto const bf16 = probe_machine(compute, arithmetic);
  EXPECT_TRUE(plausible(bf16.matmul_gflops_bf16));
  EXPECT_EQ(bf16.matmul_gflops_f32, 0);
}

TEST(MachineProbe, measures_the_spill_path) {
  Machine machine;
  probe_storage(machine, ::testing::TempDir(), true, host_device());
  EXPECT_TRUE(plausible(machine.nvme_write_gbps));
  EXPECT_TRUE(plausible(machine.nvme_read_gbps));
  EXPECT_TRUE(plausible(machine.nvme_both_gbps));
  EXPECT_LE(machine.nvme_both_gbps, machine.nvme_write_gbps + machine.nvme_read_gbps);
  EXPECT_TRUE(plausible(machine.nvme_core_s_per_gb));
  EXPECT_EQ(machine.h2d_gbps, 0) << "no link on the cores";
}

TEST(MachineProbe, has_the_rates_of_a_drive_that_only_writes_that_only_reads_and_of_both) {
  Machine machine;
  set_drive_rates(machine, {6, 3}, {20, 4}, {9, 1.5});
  EXPECT_EQ(machine.nvme_write_gbps, 2);
  EXPECT_EQ(machine.nvme_read_gbps, 5);
  EXPECT_EQ(machine.nvme_both_gbps, 6);
  set_drive_rates(machine, {6, 3}, {20, 4}, {16, 2});
  EXPECT_EQ(machine.nvme_both_gbps, 7) << "no more than both by themselves";
  set_drive_rates(machine, {}, {20, 4}, {});
  EXPECT_EQ(machine.nvme_write_gbps, 0);
  EXPECT_EQ(machine.nvme_both_gbps, 0);
}

TEST(MachineProbe, knows_nothing_of_a_drive_that_has_no_room) {
  Machine machine;
  test::FileSizeLimit const limit(std::int64_t{1} << 16);
  probe_storage(machine, ::testing::TempDir(), true, host_device());
  EXPECT_EQ(machine.nvme_write_gbps, 0);
  EXPECT_EQ(machine.nvme_read_gbps, 0);
  EXPECT_EQ(machine.nvme_both_gbps, 0);
  EXPECT_EQ(machine.nvme_core_s_per_gb, 0);
}

// What a drive lacks is found out by the plans that spill; memory is what all of them need.
TEST(MachineProbe, says_that_there_is_no_memory_to_measure_a_drive_with) {
  if (!test::MemoryLimit::kWorks) GTEST_SKIP() << "a sanitizer maps as much by itself";
  Machine machine;
  test::MemoryLimit const limit(rlim_t{1} << 20);
  EXPECT_TRUE(
      test::refused_with([&] { probe_storage(machine, ::testing::TempDir(), true, host_device()); },
                         Status::cannot_fit)
          .starts_with("memory to measure the drive with: the system does not give "));
  EXPECT_EQ(test::refused_with([] { StorageBench::memory_for(std::int64_t{1} << 30); },
                               Status::cannot_fit),
            "memory to measure the drive with: the system does not give 64 MiB: Cannot allocate "
            "memory");
}

TEST(MachineProbe, leaves_room_on_a_drive_for_others) {
  constexpr auto kGiB = std::int64_t{1} << 30;
  EXPECT_EQ(storage_probe_bytes(1000 * kGiB), kGiB);
  EXPECT_EQ(storage_probe_bytes(2 * kGiB + 2), kGiB);
  EXPECT_EQ(storage_probe_bytes(2 * kGiB - 2), kGiB - 1);
  EXPECT_EQ(storage_probe_bytes(100), 50);
}

TEST(MachineProbe, the_slowest_machine_has_every_lowest_rate) {
  Machine const machines[] = {{.memory_gbps = 3,
                               .nvme_read_gbps = 1,
                               .item_overhead_s = 1,
                               .op_s = {{"a", 1}, {"b", 2}},
                               .kind_giga_per_s = {{"a", 1}}},
                              {.memory_gbps = 2,
                               .nvme_read_gbps = 4,
                               .item_overhead_s = 2,
                               .op_s = {{"a", 3}, {"b", 1}, {"c", 1}},
                               .kind_giga_per_s = {{"a", 2}}}};
  auto const machine = slowest(machines);
  EXPECT_EQ(machine.memory_gbps, 2);
  EXPECT_EQ(machine.nvme_read_gbps, 1);
  EXPECT_EQ(machine.item_overhead_s, 2);
  EXPECT_EQ(machine.op_s, (std::map<std::string, double, std::less<>>{{"a", 3}, {"b", 2}}));
  EXPECT_EQ(machine.kind_giga_per_s.at("a"), 1);
}

TEST(MachineProbe, a_directory_that_is_not_there_is_the_users_mistake) {
  Machine machine;
  EXPECT_THROW(probe_storage(machine, "/no/such/directory", true, host_device()), Error);
}

}  // namespace
}  // namespace spillway::machine_probe_test
