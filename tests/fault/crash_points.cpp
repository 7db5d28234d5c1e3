// A kill, or an error, at every call that changes what is in a run's directory.
#include <fmt/format.h>

#include <algorithm>

#include "crash_test.hpp"

namespace spillway::test {
namespace {

namespace fs = std::filesystem;

constexpr auto kNew = "run.steps=2 run.checkpoint.every=1 run.checkpoint.keep=1";
constexpr auto kGoesBack = "run.steps=4 run.checkpoint.every=1 run.checkpoint.keep=1";

class CrashPoints : public CrashTest {
 protected:
  // A run that has gone back: what it writes takes the places of steps 2 and 3, before step 4.
  void start_behind(int ranks) {
    ASSERT_EQ(train("run.steps=3 run.checkpoint.every=1", ranks).status, 0);
    write("run/latest", "step-1\n");
    keep_start();
  }

  void expect_kills_to_cost_nothing(std::string const& overrides, int ranks, Planted fault,
                                    int stride) {
    keep_whole(overrides, ranks);
    fault.calls = "write,pwrite,fsync,fdatasync,rename,mkdir,unlink,rmdir";
    fault.path = path("run");
    fault.what = "kill";
    std::int64_t before = 0;
    at_points(fault, overrides, ranks, stride, [&](Outcome const& outcome) {
      EXPECT_EQ(outcome.status, 137) << outcome.output;
      expect_sound_checkpoints();
      auto const resumed = expect_to_go_on(overrides, ranks);
      EXPECT_GE(resumed, before) << "a checkpoint that stood at an earlier call is lost";
      before = resumed;
    });
  }

  // Survived, and then nothing is missing or it is said what is; or the end, with its reason.
  void expect_answer(Outcome const& outcome) {
    auto said = complaints(outcome);
    std::erase_if(said, [](auto const& line) { return line.find("tried again") != line.npos; });
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 4 ||
                (outcome.status == 2 && bits_or_none().empty()))
        << outcome.status << outcome.output;
    EXPECT_EQ(said.size(), outcome.status == 0 ? 0u : 1u) << outcome.output;
    if (outcome.status != 0 || outcome.output.find("spillway: warning: ") != std::string::npos)
      return;
    EXPECT_EQ(bits("run"), bits("whole"));
    EXPECT_EQ(committed_step(), 4) << outcome.output;
  }
  std::map<std::int64_t, std::string> bits_or_none() {
    return fs::exists(m_dir / "run") ? bits("run") : std::map<std::int64_t, std::string>{};
  }

  // `at`: what stands behind the number of the call; "-": that call and all later ones.
  void expect_errors_to_be_answered(std::string const& error, std::string const& at) {
    start_behind(kAlone);
    keep_whole(kGoesBack, kAlone);
    Planted const fault{.calls = "write,pwrite,fsync,close,rename,mkdir,unlink,rmdir",
                        .path = path("run"),
                        .what = error,
                        .at = at,
                        .stride = 12};
    at_points(fault, kGoesBack, kAlone, crash_stride(67), [&](Outcome const& outcome) {
      expect_answer(outcome);
      expect_sound_checkpoints();
      expect_to_go_on(kGoesBack, kAlone);
    });
  }
};

TEST_F(CrashPoints, kills_of_a_new_run_cost_nothing) {
  expect_kills_to_cost_nothing(kNew, kAlone, {.stride = 12}, crash_stride(17));
}

TEST_F(CrashPoints, kills_of_a_run_that_replaces_checkpoints_cost_nothing) {
  start_behind(kAlone);
  expect_kills_to_cost_nothing(kGoesBack, kAlone, {.stride = 12}, crash_stride(23));
}

TEST_F(CrashPoints, kills_of_one_of_two_ranks_cost_nothing) {
  start_behind(kTwoRanks);
  for (auto const* rank : {"0", "1"})
    expect_kills_to_cost_nothing(kGoesBack, kTwoRanks, {.rank = rank, .stride = 40},
                                 crash_stride(60));
}

TEST_F(CrashPoints, one_error_is_survived_or_said) {
  expect_errors_to_be_answered("ENOSPC", "");
}

TEST_F(CrashPoints, errors_from_a_call_on_are_survived_or_said) {
  expect_errors_to_be_answered("EIO", "-");
}

}  // namespace
}  // namespace spillway::test
