// A GPU that fails at any moment: the run ends with its status and a line that names the device,
// all ranks end, and the next start goes on to the same bits. The stand-in's calls fail here.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/wrapped.hpp"
#include "fault_test.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::cuda_device_test {
namespace {

namespace fs = std::filesystem;

// "CALL:N:KIND" of SPILLWAY_STAND_IN_FAULT. The 60th launch is in the first step, the 150th later.
constexpr std::array kKinds = {"launch:60:failed",           "launch:150:sticky",
                               "cudaMemcpyAsync:100:sticky", "cudaMemcpyAsync:30:failed",
                               "launch:150:lost_device",     "cudaEventRecord:600:lost_device",
                               "cudaEventQuery:200:sticky",  "cudaStreamWaitEvent:40:failed"};

class DeviceFaults : public FaultTest, public ::testing::WithParamInterface<int> {
 protected:
  Outcome train_with(std::string const& fault, std::string const& overrides = "") const {
    return run_command("SPILLWAY_STAND_IN_FAULT=" + fault + " " +
                       train_command(kAway + overrides, GetParam()));
  }
  void expect_to_go_on(std::map<std::int64_t, std::string> const& whole) const {
    auto const outcome = train(kAway, GetParam());
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(bits("run"), whole);
  }

  // Every lane has something to do.
  std::string const kAway = spilling() +
                            "plan.optimizer=host plan.update=host plan.parameters=host "
                            "run.checkpoint.every=1 ";
};

TEST_P(DeviceFaults, end_a_run_that_the_next_start_resumes) {
  ASSERT_EQ(train(kAway, GetParam()).status, 0);
  auto const whole = bits("run");
  // Ordinarily the kinds are shared out between one rank and two.
  bool const all = takes_all();
  for (std::size_t k = all || GetParam() == kAlone ? 0 : 1; k < kKinds.size(); k += all ? 1 : 2) {
    auto const* const fault = kKinds[k];
    SCOPED_TRACE(fault);
    fs::remove_all(m_dir / "run");
    auto const outcome = train_with(fault);
    EXPECT_TRUE(fails_with(8, "CUDA device 0 at 0000:01:00.0: ", outcome));
    EXPECT_TRUE(fs::is_empty(m_dir / "nvme"));
    expect_to_go_on(whole);
  }
}

TEST_P(DeviceFaults, that_come_before_step_0_end_the_start) {
  for (auto const* fault : {"cudaSetDevice:0:failed", "cudaStreamCreateWithPriority:1:failed",
                            "cuMemAddressReserve:0:failed", "cudaHostRegister:0:failed",
                            "cudaEventCreateWithFlags:20:sticky"}) {
    SCOPED_TRACE(fault);
    auto const outcome = train_with(fault);
    EXPECT_TRUE(fails_with(8, "CUDA device 0", outcome));
    EXPECT_TRUE(bits("run").empty());
    fs::remove_all(m_dir / "run");
  }
}

TEST_P(DeviceFaults, memory_that_is_not_there_is_named) {
  for (auto const* fault : {"cuMemCreate:0:out_of_memory", "cudaHostRegister:0:out_of_memory"}) {
    auto const outcome = train_with(fault);
    EXPECT_TRUE(fails_with(3, "CUDA device 0", outcome));
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, DeviceFaults, ::testing::Values(kAlone, kTwoRanks));

class Devices : public FaultTest {};

TEST_F(Devices, are_chosen_by_local_rank_and_shared_only_when_named) {
  auto const on = [&](int devices, std::string const& asked, int ranks) {
    fs::remove_all(m_dir / "run");
    return run_command(fmt::format("SPILLWAY_STAND_IN_DEVICES={} ", devices) +
                       train_command("run.steps=1 run.device=" + asked, ranks));
  };
  EXPECT_EQ(on(2, "cuda", kTwoRanks).status, 0);
  EXPECT_EQ(on(1, "cuda:0", kTwoRanks).status, 0);
  EXPECT_TRUE(fails_with(2, "ranks 0 and 1 have the same GPU", on(1, "auto", kTwoRanks)));
  EXPECT_TRUE(fails_with(2, "run.device: cuda:1: rank 0 sees 1 GPU,", on(1, "cuda:1", kAlone)));
  EXPECT_TRUE(fails_with(2, "run.device: cuda: rank 0 sees no GPU", on(0, "cuda", kAlone)));
  auto const without = on(0, "auto", kAlone);
  EXPECT_TRUE(fails_with(2, "this run computes on the cores", without));
  EXPECT_NE(
      without.output.find("spillway: warning: run.device: auto: computes on the cores: rank 0 "
                          "sees no GPU: SPILLWAY_STAND_IN_DEVICES is 0\n"),
      std::string::npos)
      << without.output;
  auto const on_cores = on(1, "cpu", kAlone);
  EXPECT_TRUE(fails_with(2, "this run computes on the cores", on_cores));
  EXPECT_EQ(on_cores.output.find("warning"), std::string::npos) << on_cores.output;
}

TEST_F(Devices, of_two_kinds_make_no_plan) {
  auto const outcome =
      run_command("SPILLWAY_STAND_IN_DEVICES=2 SPILLWAY_STAND_IN_ARCHITECTURES=90,80 " +
                  train_command("run.steps=1 run.device=cuda", kTwoRanks));
  EXPECT_TRUE(fails_with(2,
                         "run.device: cuda: ranks 0 and 1 have unlike GPUs, stand-in for a GPU "
                         "(sm_90) and stand-in for a GPU (sm_80): all ranks need the same",
                         outcome));
}

// The program on the stand-in is as if it were compiled for an sm_80.
TEST_F(Devices, that_are_too_old_for_the_kernels_are_passed_over) {
  auto const on = [&](std::string const& architectures, std::string const& asked) {
    fs::remove_all(m_dir / "run");
    return run_command("SPILLWAY_STAND_IN_DEVICES=2 SPILLWAY_STAND_IN_ARCHITECTURES=" +
                       architectures + " " + train_command("run.steps=1 run.device=" + asked));
  };
  constexpr auto why = "stand-in for a GPU is an sm_75, and the module is compiled for 80";
  EXPECT_EQ(on("75,80", "cuda").status, 0);
  EXPECT_TRUE(fails_with(2, fmt::format("run.device: cuda:0: rank 0 cannot use it: {}", why),
                         on("75,80", "cuda:0")));
  EXPECT_TRUE(
      fails_with(2, fmt::format("run.device: cuda: rank 0 sees no GPU that it can use: {}", why),
                 on("75,75", "cuda")));
  auto const on_cores = on("75,75", "auto");
  EXPECT_TRUE(fails_with(2, "this run computes on the cores", on_cores));
  EXPECT_NE(on_cores.output.find(fmt::format("spillway: warning: run.device: auto: computes on the "
                                             "cores: rank 0 sees no GPU that it can use: {}\n",
                                             why)),
            std::string::npos)
      << on_cores.output;
  auto const doctor =
      run_command("SPILLWAY_STAND_IN_DEVICES=2 SPILLWAY_STAND_IN_ARCHITECTURES=75 " +
                  spillway_command(kAlone) + " doctor " + m_dir.string());
  EXPECT_EQ(doctor.status, 0) << doctor.output;
  auto const unusable = wrapped_row("  cuda:0", fmt::format("cannot be used: {}", why), 20);
  EXPECT_NE(doctor.output.find("\n" + unusable), std::string::npos) << doctor.output;
  EXPECT_NE(doctor.output.find("\n  cuda:1            stand-in for a GPU, sm_90, "),
            std::string::npos)
      << doctor.output;
}

TEST_F(Devices, that_are_full_need_smaller_budgets) {
  // Others have all but 2 MiB of 1 GiB.
  auto const outcome =
      run_command("SPILLWAY_STAND_IN_MEMORY=1073741824 SPILLWAY_STAND_IN_TAKEN=1071644672 " +
                  train_command(""));
  EXPECT_TRUE(fails_with(3, "memory.device: CUDA device 0 at 0000:01:00.0 does not give", outcome));
}

}  // namespace
}  // namespace spillway::test::cuda_device_test
