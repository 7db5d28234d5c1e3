// A kill, or an error, at every call that changes what is in a run's directory.
#include <fmt/format.h>

#include "crash_test.hpp"

namespace spillway::test::crash_points_test {
namespace {

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
    if (fault.path.empty()) fault.path = path("run");
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

  bool no_step_was_done() const {
    return read_metrics(m_dir / "run").size() == read_metrics(m_dir / "start").size();
  }

  // Survived, and then nothing is missing or it is said what is; or the end, with its reason.
  void expect_answer(Outcome const& outcome) {
    auto said = complaints(outcome);
    std::erase_if(said, [](auto const& line) { return line.find("tried again") != line.npos; });
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 4 ||
                (outcome.status == 2 && no_step_was_done()))
        << outcome.status << outcome.output;
    EXPECT_EQ(said.size(), outcome.status == 0 ? 0u : 1u) << outcome.output;
    if (outcome.status != 0) return;
    EXPECT_EQ(read("run/latest"), read("whole/latest"));
    if (outcome.output.find("rows are missing") != std::string::npos) return;
    EXPECT_EQ(bits("run"), bits("whole")) << outcome.output;
  }

  // `at`: what stands behind the number of the call; "-": that call and all later ones.
  void expect_errors_to_be_answered(std::string const& overrides, std::string const& error,
                                    std::string const& at, int stride) {
    keep_whole(overrides, kAlone);
    Planted const fault{.calls = "write,pwrite,fsync,close,rename,mkdir,unlink,rmdir",
                        .path = path("run"),
                        .what = error,
                        .at = at,
                        .stride = 12};
    at_points(fault, overrides, kAlone, stride, [&](Outcome const& outcome) {
      expect_answer(outcome);
      expect_sound_checkpoints();
      expect_to_go_on(overrides, kAlone);
    });
  }
};

TEST_F(CrashPoints, kills_of_a_new_run_cost_nothing) {
  expect_kills_to_cost_nothing(kNew, kAlone, {.stride = 12}, 61);
}

// Between its two renames a save has a checkpoint that `latest` does not name.
TEST_F(CrashPoints, kills_while_latest_changes_cost_nothing) {
  expect_kills_to_cost_nothing(kNew, kAlone, {.path = path("run/latest")}, 1);
}

// It moves later checkpoints out of the way, one by one.
TEST_F(CrashPoints, kills_of_a_run_that_goes_back_cost_nothing) {
  start_behind(kAlone);
  expect_kills_to_cost_nothing(kGoesBack, kAlone, {.path = path("run/earlier")}, 1);
}

TEST_F(CrashPoints, kills_of_a_run_that_replaces_checkpoints_cost_nothing) {
  start_behind(kAlone);
  expect_kills_to_cost_nothing(kGoesBack, kAlone, {.stride = 12}, 79);
}

TEST_F(CrashPoints, kills_of_one_of_two_ranks_cost_nothing) {
  start_behind(kTwoRanks);
  for (auto const* rank : {"0", "1"})
    expect_kills_to_cost_nothing(kGoesBack, kTwoRanks, {.rank = rank, .stride = 40}, 193);
}

TEST_F(CrashPoints, one_error_is_survived_or_said) {
  start_behind(kAlone);
  expect_errors_to_be_answered(kGoesBack, "ENOSPC", "", 193);
}

TEST_F(CrashPoints, errors_from_a_call_on_are_survived_or_said) {
  start_behind(kAlone);
  expect_errors_to_be_answered(kGoesBack, "EIO", "-", 193);
}

TEST_F(CrashPoints, a_seal_of_a_shard_that_cannot_be_removed_is_said) {
  Planted const fault{.calls = "unlink", .path = "shard-0.seal", .what = "EIO"};
  auto const outcome = run_command(planted(fault) + train_command(kGoesBack));
  EXPECT_EQ(outcome.status, 4) << outcome.output;
  EXPECT_EQ(outcome.output.find("internal"), std::string::npos) << outcome.output;
}

TEST_F(CrashPoints, one_error_of_a_new_run_is_survived_or_said) {
  expect_errors_to_be_answered(kNew, "EIO", "", 127);
}

}  // namespace
}  // namespace spillway::test::crash_points_test
