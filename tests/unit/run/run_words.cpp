// What people are told of a run before its first step, to the last word.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "comm/comm.hpp"
#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "run/existing_memory.hpp"
#include "run/fault.hpp"
#include "run/measured_machine.hpp"
#include "run/pinning.hpp"
#include "run/plan_run.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::run_words_test {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20, kGib = std::int64_t{1} << 30;

template <class Act>
Error error_of(Act const& act) {
  try {
    act();
  } catch (Error const& error) {
    return error;
  }
  return {Status::done, "no error"};
}

TEST(RunWords, of_pinned_memory_are_its_size_and_the_time_of_each_gib) {
  EXPECT_EQ(describe(Pinning{12 * kGib, 3.3}),
            "pinning 12 GiB of main memory took 3.3 s (0.27 s a GiB)");
  EXPECT_EQ(describe(Pinning{1024 * kGib, 123.4}),
            "pinning 1 TiB of main memory took 123 s (0.12 s a GiB)");
}

TEST(RunWords, of_narrow_sums_say_what_helps) {
  OptimConfig optim;
  optim.gradients = Precision::bf16;
  EXPECT_EQ(warning_of_narrow_sums(optim, 65),
            "optim.gradients: bf16: sums over 65 micro-batches are rounded after each of them, and "
            "what is less than 1/512 of a sum is lost; a larger batch.micro, or fp32, keeps it");
}

TEST(RunWords, of_a_plan_for_more_than_is_free_say_what_may_come_of_it) {
  TierBytes peaks{};
  peaks[Tier::device] = 6 * kGib;
  peaks[Tier::host] = 2 * kGib;
  peaks[Tier::nvme] = 100 * kGib;
  EXPECT_EQ(overcommitted(peaks, true, 15 * kGib, 2),
            "the plan takes 16 GiB of main memory on this node, of which 15 GiB are free now: "
            "unless others give back the rest, the system may end this run without a word; smaller "
            "budgets, or auto, plan for what is free");
  EXPECT_EQ(overcommitted(peaks, false, 3 * kGib, 2).find("the plan takes 4 GiB of"), 0u);
}

// The budgets of a run that cannot fit, each as it is.
TEST(RunWords, of_what_cannot_fit_begin_with_the_budgets_that_are_too_small) {
  auto config = tiny_config();
  config.debug.kernels = KernelSet::portable;
  config.batch.sequences = 4;
  auto const machine = Machine{.matmul_gflops_f32 = 100,
                               .memory_gbps = 10,
                               .nvme_write_gbps = 1,
                               .nvme_read_gbps = 1,
                               .h2d_gbps = 10,
                               .d2h_gbps = 10,
                               .node_ranks = 2};
  auto const why = [&](Budgets const& budgets, std::int64_t ranks = 1) {
    auto const error = error_of([&] {
      plan_run(config, kTinyVocab, {machine, budgets, {1, 1}, ranks});
    });
    EXPECT_EQ(error.status(), Status::cannot_fit);
    return std::string(error.what());
  };
  auto const device = why({4096, 0, 0});
  EXPECT_TRUE(device.starts_with("memory.device = 4 KiB: ")) << device;
  EXPECT_NE(device.find("; its steps would take "), device.npos) << device;
  config.memory.nvme_paths = std::vector<std::string>{"/scratch"};
  config.memory.nvme_bytes = 5 * kGib;
  config.plan.optimizer = {Tier::nvme};
  auto const drive = why({64 * kMib, 64 * kMib, 8192});
  EXPECT_TRUE(drive.starts_with("memory.nvme.size = 8 KiB (/scratch has no 5 GiB): ")) << drive;
  config.memory.nvme_paths->emplace_back("/more");
  auto const drives = why({64 * kMib, 64 * kMib, 8192});
  EXPECT_TRUE(drives.starts_with("memory.nvme.size = 8 KiB (/scratch and /more have no 5 GiB): "))
      << drives;
  config.memory.nvme_paths->pop_back();
  auto const both = why({4096, 0, 8192});
  EXPECT_TRUE(both.starts_with("memory.device = 4 KiB, memory.nvme.size = 8 KiB (/scratch has no"))
      << both;
  auto const worn = why({64 * kMib, 0, 5 * kGib, 1024}, 3);
  EXPECT_TRUE(worn.starts_with("spill.max_write_per_day = 169 MiB: ")) << "of two ranks: " << worn;
}

TEST(RunWords, of_a_machine_file_for_another_one_name_the_file_and_its_key) {
  std::string const file = ::testing::TempDir() + "another_machine.yaml";
  auto const alone = make_single_rank_comm();
  auto config = tiny_config();
  config.debug.machine = file;
  Compute const here{host_device(), host::kernels()};
  auto const why = [&](std::string const& text, Compute const& compute) {
    std::ofstream(file) << text;
    auto const error = error_of([&] {
      planned_for(config, kTinyVocab, {1, 2}, RunCores(), kMib, compute, *alone);
    });
    EXPECT_EQ(error.status(), Status::bad_input);
    return std::string(error.what());
  };
  auto const of_device = "target: sm_90\nmemory: {device: 1GiB}\n";
  EXPECT_EQ(why(of_device, here),
            file + ": memory.device: is a GPU's, but this run computes on the cores");
  if (DeviceUnderTest on(false); on.is_stand_in()) {
    Compute const there{on.device(), on.kernels()};
    EXPECT_EQ(why(of_device, there), file + ": target: sm_90, but this run's kernels are for host");
    EXPECT_EQ(why("memory_gbps: 7\n", there),
              file + ": memory.device: has none, but this run computes on a GPU");
  }
  config.run.host_threads = 3;
  std::ofstream(file) << "cores: {host: 2}\nmemory_gbps: 7\n";
  auto const machine = planned_for(config, kTinyVocab, {1, 2}, RunCores(), kMib, here, *alone);
  EXPECT_EQ(machine.memory_gbps, 7);
  EXPECT_EQ(machine.host_cores, 3) << "as asked";
}

TEST(RunWords, of_faults_are_read_with_their_numbers) {
  EXPECT_EQ(parse_fault("none").kind, FaultKind::none);
  std::pair<char const*, FaultKind> const all[] = {
      {"storage-read", FaultKind::storage_read},
      {"storage-write", FaultKind::storage_write},
      {"storage-read-all", FaultKind::storage_read_all},
      {"storage-write-all", FaultKind::storage_write_all},
      {"storage-random", FaultKind::storage_random},
      {"storage-slow", FaultKind::storage_slow},
      {"drive-told-slow", FaultKind::drive_told_slow},
      {"rank-told-slow", FaultKind::rank_told_slow},
      {"kill-rank", FaultKind::kill_rank}};
  EXPECT_EQ(std::size(all), std::size(kFaultNames));
  std::int64_t number = 1'000'000'000'000;
  for (auto const& [name, kind] : all) {
    auto const fault = parse_fault(std::string(name) + ":" + std::to_string(++number));
    EXPECT_EQ(fault.kind, kind) << name;
    EXPECT_EQ(fault.number, number) << name;
  }
}

TEST(RunWords, of_arithmetic_are_those_of_their_own_keys) {
  auto config = tiny_config();
  config.optim.gradients = Precision::bf16;
  auto const gradients = make_arithmetic(config, {3, 2}, 4);
  EXPECT_EQ(gradients.gradients, Precision::bf16);
  EXPECT_EQ(gradients.moments, Precision::fp32);
  EXPECT_EQ(gradients.reduction, Reduction::last);
  config.optim = {.moments = Precision::bf16, .reduction = Reduction::each};
  auto const moments = make_arithmetic(config, {3, 2}, 4);
  EXPECT_EQ(moments.gradients, Precision::fp32);
  EXPECT_EQ(moments.moments, Precision::bf16);
  EXPECT_EQ(moments.reduction, Reduction::each);
  config.optim.reduction = Reduction::last;
  EXPECT_EQ(make_arithmetic(config, {3, 2}, 4).reduction, Reduction::last);
}

TEST(RunWords, of_clipping_and_of_skipped_steps_reach_the_search) {
  Config config;
  auto const awaits_norm = [&](double clip, NonFinite non_finite) {
    config.optim.clip = clip;
    config.optim.non_finite = non_finite;
    return plan_request(config).norm_is_awaited;
  };
  EXPECT_FALSE(awaits_norm(0, NonFinite::stop));
  EXPECT_TRUE(awaits_norm(1, NonFinite::stop));
  EXPECT_TRUE(awaits_norm(0, NonFinite::skip));
  EXPECT_TRUE(awaits_norm(1, NonFinite::skip));
}

}  // namespace
}  // namespace spillway::test::run_words_test
