// Requests to stop, polite and otherwise.
#include <fmt/format.h>

#include "fault_test.hpp"

namespace spillway::test {
namespace {

namespace fs = std::filesystem;

class StopSignals : public FaultTest {
 protected:
  // Starts an endless run in the background; `then` finds it as $! once it has done a step.
  Outcome interrupt(std::string const& overrides, std::string const& then, int ranks = kAlone) {
    return run_command(train_command("run.steps=1000000 " + overrides, ranks) + " & " +
                       until("test -s " + path("run/metrics.jsonl")) + then);
  }

  std::int64_t latest_step() { return std::stoll(read("run/latest").substr(5)); }

  // Goes on for two steps; all bits must be those of a run that was not interrupted.
  void expect_same_bits(std::string const& overrides, int ranks) {
    fs::remove_all(m_dir / "whole");
    auto const steps = fmt::format(" run.steps={} ", latest_step() + 2);
    ASSERT_EQ(train(overrides + steps, ranks).status, 0);
    ASSERT_EQ(train(overrides + steps + "run.dir=" + path("whole"), ranks).status, 0);
    EXPECT_EQ(bits("run"), bits("whole"));
  }

  void expect_polite(std::string const& signal, std::string const& overrides, int ranks) {
    SCOPED_TRACE(signal);
    fs::remove_all(m_dir / "run");
    auto const outcome = interrupt(overrides, "kill -" + signal + " $!; wait $!", ranks);
    EXPECT_EQ(outcome.status, 75) << outcome.output;
    EXPECT_EQ(complaints(outcome).size(), 0u) << outcome.output;
    EXPECT_EQ(bits("run").size(), static_cast<std::size_t>(latest_step()));
    expect_same_bits(overrides, ranks);
  }
};

TEST_F(StopSignals, each_leaves_a_checkpoint_from_which_the_same_bits_follow) {
  expect_polite("TERM", "precision=bf16", kAlone);
  expect_polite("INT", spilling() + "model.dropout=0.1", kAlone);
  expect_polite("USR1", "", kAlone);
}

TEST_F(StopSignals, mpirun_passes_the_one_that_batch_systems_send_ahead_of_time) {
  expect_polite("USR1", "", kTwoRanks);
}

TEST_F(StopSignals, a_second_one_ends_the_run_at_once) {
  auto const step_of_minutes = train_command("batch.sequences=40000 memory.device=1GiB");
  auto const outcome =
      run_command(step_of_minutes + " & " + until("test -e " + path("run/plan.txt")) +
                  "kill -USR1 $!; sleep 2.2; kill -USR1 $!; wait $!");
  EXPECT_EQ(outcome.status, 138) << outcome.output;
  EXPECT_FALSE(fs::exists(m_dir / "run/latest"));
}

TEST_F(StopSignals, time_that_is_up_ends_the_run_like_a_signal) {
  for (int const ranks : {kAlone, kTwoRanks}) {
    fs::remove_all(m_dir / "run");
    auto const outcome = train("run.steps=1000000 run.max_time=0.2s", ranks);
    EXPECT_EQ(outcome.status, 75) << outcome.output;
    EXPECT_EQ(bits("run").size(), static_cast<std::size_t>(latest_step()));
  }
}

TEST_F(StopSignals, killed_at_any_moment_it_leaves_no_spill_file_and_a_sound_latest) {
  auto const command = train_command(spilling() + "run.steps=1000000 run.checkpoint.every=1");
  for (int kill = 0; kill < 12; ++kill) {
    auto const rows = fs::exists(m_dir / "run") ? read_metrics(m_dir / "run").size() : 0;
    auto const more_rows = fmt::format("test $(cat {} 2>/dev/null | wc -l) -gt {}",
                                       path("run/metrics.jsonl"), rows + 1);
    auto const outcome = run_command(fmt::format("{} & {} sleep 0.0{}; kill -9 $!; wait $!",
                                                 command, until(more_rows), kill * 7 % 10));
    ASSERT_EQ(outcome.status, 137) << outcome.output;
    EXPECT_TRUE(fs::is_empty(m_dir / "nvme"));
    auto const inspect =
        fmt::format("{} inspect {}/step-{}", spillway_command(kAlone), path("run"), latest_step());
    EXPECT_EQ(run_command(inspect).status, 0) << read("run/latest");
  }
  EXPECT_EQ(train(fmt::format("run.steps={}", latest_step() + 1)).status, 0);
  for (auto const& entry : fs::directory_iterator(m_dir / "run")) {
    EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
  }
}

}  // namespace
}  // namespace spillway::test
