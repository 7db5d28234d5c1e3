// A run that is killed while it moves its state to where a new plan keeps it.
#include <fmt/format.h>

#include <algorithm>

#include "crash_test.hpp"

namespace spillway::test::crash_replan_test {
namespace {

namespace fs = std::filesystem;

class CrashReplan : public FastDriveTest {
 protected:
  std::string steps_with(std::string const& overrides) const {
    return with("run.steps=28 " + overrides);
  }

  bool has_new_plan() const {
    return std::ranges::any_of(fs::directory_iterator(m_dir / "run"), [](auto const& entry) {
      return entry.path().filename().string().starts_with("plan-");
    });
  }

  // What moves the state: transfers of the spill file behind the message, before the plan's file.
  int transfers_of_a_move(Planted const& moving) {
    auto counted = moving;
    counted.path = m_dir.string();
    int transfers = 0;
    for (auto const& call : points(counted, steps_with("debug.fault=drive-told-slow:1"), kAlone)) {
      if (call.find("/run/plan-") != call.npos) break;
      if (call.find(path("nvme")) != call.npos) ++transfers;
    }
    return transfers;
  }

  void expect_kills_to_cost_nothing() {
    keep_whole(steps_with("plan.replan=false"), kAlone);
    Planted moving{.calls = "pread,pwrite",
                   .path = path("nvme"),
                   .what = "kill",
                   .after = "new plan from step"};
    int const transfers = transfers_of_a_move(moving);
    ASSERT_TRUE(has_new_plan());
    ASSERT_GE(transfers, 3);
    RecordProperty("points", transfers);
    for (int const k : {1, (transfers + 1) / 2}) {
      SCOPED_TRACE(fmt::format("transfer {} of {}", k, transfers));
      moving.at = std::to_string(k);
      begin_anew();
      auto const outcome = run_command(
          planted(moving) + train_command(steps_with("debug.fault=drive-told-slow:1"), kAlone));
      EXPECT_EQ(outcome.status, 137) << outcome.output;
      EXPECT_FALSE(has_new_plan()) << "not killed in the move";
      EXPECT_TRUE(fs::is_empty(m_dir / "nvme"));
      expect_sound_checkpoints();
      EXPECT_GE(committed_step(), 10);
      expect_to_go_on(steps_with("plan.replan=false"), kAlone);
    }
  }
};

// The run itself is not harmed.
TEST_F(CrashReplan, a_new_plan_whose_file_finds_no_room_is_taken_all_the_same) {
  Planted const fault{.calls = "write,pwrite", .path = "/run/plan-", .what = "ENOSPC"};
  auto const outcome = run_command(
      planted(fault) + train_command(steps_with("debug.fault=drive-told-slow:1"), kAlone));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  auto const plan = read_summary(m_dir / "run").at("plan").get<std::string>();
  EXPECT_TRUE(plan.starts_with("plan-")) << plan;
  EXPECT_NE(outcome.output.find("spillway: warning: " + plan + ": "), std::string::npos)
      << outcome.output;
  EXPECT_FALSE(fs::exists(m_dir / "run" / plan));
}

TEST_F(CrashReplan, kills_in_the_move_leave_no_spill_file_and_cost_nothing) {
  expect_kills_to_cost_nothing();
}

}  // namespace
}  // namespace spillway::test::crash_replan_test
