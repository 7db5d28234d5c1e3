// Requests to stop, polite and otherwise.
#include <fmt/format.h>

#include <random>

#include "fault_test.hpp"
#include "preload.hpp"

namespace spillway::test::stop_signals_test {
namespace {

namespace fs = std::filesystem;

class StopSignals : public FaultTest {
 protected:
  // Starts an endless run in the background, as if from a terminal: a script's shell lets what it
  // puts there ignore SIGINT. `then` finds it as $! once it has done a step.
  Outcome interrupt(std::string const& overrides, std::string const& then, int ranks = kAlone) {
    return run_command("env --default-signal=INT " +
                       train_command("run.steps=1000000 " + overrides, ranks) + " & " +
                       until(has_step(path("run"))) + then);
  }

  // Shell: waits for three more steps of the run in the background.
  std::string some_rows_later() {
    auto const count = fmt::format("$(grep -c loss_hex {})", path("run/metrics.jsonl"));
    return fmt::format("rows={}; ", count) + until(fmt::format("test {} -gt $((rows + 2))", count));
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
    auto const said = fmt::format(
        "spillway: info: stopped as asked after step {}; the same command goes on from there\n",
        latest_step());
    EXPECT_NE(outcome.output.find(said), std::string::npos) << outcome.output;
    EXPECT_EQ(bits("run").size(), static_cast<std::size_t>(latest_step()));
    expect_same_bits(overrides, ranks);
  }
};

TEST_F(StopSignals, each_leaves_a_checkpoint_from_which_the_same_bits_follow) {
  expect_polite("TERM", "precision=bf16", kAlone);
  expect_polite("INT", spilling() + "model.dropout=0.1", kAlone);
  expect_polite("USR1", "", kAlone);
  expect_polite("HUP", "", kAlone);
}

// Sent before the program began, by one who blocks it.
TEST_F(StopSignals, one_that_came_first_of_all_stops_the_run_at_its_first_step) {
  write("early.py",
        "import os, signal, sys\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\n"
        "os.execvp('env', sys.argv)\n");
  auto const outcome =
      run_command("python3 " + path("early.py") + " " + train_command("run.steps=300", kAlone));
  ASSERT_EQ(outcome.status, 75) << outcome.output;
  EXPECT_LE(latest_step(), 1);
}

// The signal is sent as MPI opens the memory that ranks of a machine share.
TEST_F(StopSignals, one_that_comes_while_mpi_starts_does_so_too) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  Planted const stop{.calls = "open",
                     .path = "/dev/shm",
                     .what = "stop",
                     .at = "1",
                     .rank = "1",
                     .count_file = path("opened")};
  auto const outcome =
      run_command("env " + planted(stop) + train_command("run.steps=300", kTwoRanks));
  if (!fs::exists(m_dir / "opened")) GTEST_SKIP() << "this MPI shares memory in another way";
  ASSERT_EQ(outcome.status, 75) << outcome.output;
  EXPECT_LE(latest_step(), 1);
}

// As nohup and shells leave them to what is in the background.
TEST_F(StopSignals, those_of_terminals_that_were_to_be_ignored_are) {
  for (auto const* signal : {"HUP", "INT"}) {
    SCOPED_TRACE(signal);
    fs::remove_all(m_dir / "run");
    auto const outcome = run_command(fmt::format(
        "trap \"\" {0}; {1} & {2} kill -{0} $!; {3} kill -TERM $!; wait $!", signal,
        train_command("run.steps=1000000"), until(has_step(path("run"))), some_rows_later()));
    EXPECT_EQ(outcome.status, 75) << outcome.output;
  }
}

TEST_F(StopSignals, mpirun_passes_the_one_that_batch_systems_send_ahead_of_time) {
  expect_polite("USR1", "", kTwoRanks);
}

// Batch systems and people send it to one process.
TEST_F(StopSignals, one_to_any_rank_stops_all) {
  write("rank.sh", "echo $$ > " + path("pid-$OMPI_COMM_WORLD_RANK") + "; exec " +
                       train_command("run.steps=1000000") + "\n");
  auto launcher = spillway_command(3);
  launcher.resize(launcher.size() - spillway_command(kAlone).size());
  for (int rank = 0; rank < 3; ++rank) {
    fs::remove_all(m_dir / "run");
    auto const outcome =
        run_command(launcher + "sh " + path("rank.sh") + " & " + until(has_step(path("run"))) +
                    fmt::format("kill -USR1 $(cat {}-{}); wait $!", path("pid"), rank));
    ASSERT_EQ(outcome.status, 75) << outcome.output;
    EXPECT_EQ(complaints(outcome).size(), 0u) << outcome.output;
    EXPECT_EQ(bits("run").size(), static_cast<std::size_t>(latest_step()));
  }
}

// Handlers that run on a thread that computes have damaged what products keep on their stacks. Only
// a repetition of the first would end the run, where this shell is slow.
TEST_F(StopSignals, however_many_do_not_disturb_a_step) {
  auto const many =
      "kill -INT $!; i=0; "
      "while [ $i -lt 25 ]; do kill -TERM $!; sleep 0.01; kill -USR1 $!; i=$((i + 1)); done; ";
  for (int round = 0; round < 6; ++round) {
    fs::remove_all(m_dir / "run");
    auto const outcome = interrupt("batch.sequences=400 ", std::string(many) + "wait $!");
    ASSERT_EQ(outcome.status, 75) << outcome.output;
  }
}

TEST_F(StopSignals, a_second_one_ends_the_run_at_once) {
  auto const step_of_minutes = train_command("batch.sequences=40000 memory.device=1GiB");
  auto const outcome =
      run_command(step_of_minutes + " & " + until("test -e " + path("run/plan.txt")) +
                  "while kill -USR1 $! 2> /dev/null; do sleep 0.5; done; wait $!");
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

// Whatever the last of its steps is.
TEST_F(StopSignals, time_that_is_up_is_not_spent_on_an_evaluation) {
  write_token_file(m_dir / "valid.h5", 200);
  auto const outcome =
      train("run.steps=1000000 run.max_time=0.2s run.eval.every=1 data.valid=" + path("valid.h5"));
  ASSERT_EQ(outcome.status, 75) << outcome.output;
  auto const rows = read_metrics(m_dir / "run");
  ASSERT_FALSE(rows.empty());
  for (auto const& row : rows) EXPECT_EQ(row.contains("valid_loss"), row != rows.back()) << row;
}

// The drive is so slow, by what is known, that the checkpoint alone takes longer.
TEST_F(StopSignals, time_that_a_checkpoint_needs_is_no_time_to_train) {
  write("slow.yaml", with_tested_memory("nvme: {write_gbps: 1e-7, read_gbps: 1, both_gbps: 1}\n"));
  auto const outcome =
      train("run.steps=1000000 run.max_time=1h debug.machine=" + path("slow.yaml"), kAlone);
  EXPECT_EQ(outcome.status, 75) << outcome.output;
  EXPECT_EQ(latest_step(), 1);
}

// Killed while it starts, while it trains and while it writes its checkpoints, all state in the
// spill file.
class Kills : public StopSignals {
 protected:
  // Every second time only once it has done two more steps.
  std::string moment(int kill) {
    auto const delay = fmt::format("sleep 0.{:03}; ", m_random() % 250);
    if (kill % 2 == 0) return delay;
    auto const rows =
        fs::exists(m_dir / "run/metrics.jsonl") ? read_metrics(m_dir / "run").size() : 0;
    return until(fmt::format("test 0$(grep -cs loss_hex {}) -gt {}", path("run/metrics.jsonl"),
                             rows + 1)) +
           delay;
  }

  // Of every checkpoint that is not marked as unfinished.
  void expect_each_passes(std::string const& command) {
    if (!fs::exists(m_dir / "run")) return;
    for (auto const& entry : fs::directory_iterator(m_dir / "run")) {
      auto const name = entry.path().filename().string();
      if (!name.starts_with("step-") || entry.path().has_extension()) continue;
      auto const outcome =
          run_command(spillway_command(kAlone) + " " + command + entry.path().string());
      EXPECT_EQ(outcome.status, 0) << outcome.output;
    }
  }

  std::minstd_rand m_random{3};
};

TEST_F(Kills, at_any_moment_leave_no_spill_file_and_only_sound_checkpoints_and_cost_no_bit) {
  write_token_file(m_dir / "valid.h5", 200);
  auto const places =
      spilling() + "plan.parameters=nvme plan.optimizer=nvme run.checkpoint.every=1";
  for (int kill = 0; kill < 16; ++kill) {
    auto const command = train_command(places + " run.steps=1000000");
    auto const outcome =
        run_command(fmt::format("{} & {} kill -9 $!; wait $!", command, moment(kill)));
    ASSERT_EQ(outcome.status, 137) << outcome.output;
    EXPECT_TRUE(fs::is_empty(m_dir / "nvme"));
    expect_each_passes("inspect ");
  }
  ASSERT_TRUE(fs::exists(m_dir / "run/latest"));
  expect_each_passes(
      fmt::format("eval {} data.valid={} --checkpoint ", path("job.yaml"), path("valid.h5")));
  expect_same_bits(places, kAlone);
  for (auto const& entry : fs::directory_iterator(m_dir / "run")) {
    EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
  }
}

}  // namespace
}  // namespace spillway::test::stop_signals_test
