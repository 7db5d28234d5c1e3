// Standard output and error that are full, closed or without a reader.
#include <fmt/format.h>

#include "fault_test.hpp"
#include "preload.hpp"

namespace spillway::test::broken_streams_test {
namespace {

namespace fs = std::filesystem;

constexpr auto kUnwritable = "standard output: cannot be written: ";

class BrokenStreams : public FaultTest {
 protected:
  std::string with_job(std::string const& command) {
    return fmt::format("{} {} {} ", spillway_command(kAlone), command, path("job.yaml"));
  }

  // Every way in which stdout can refuse, and what is said of it.
  void expect_refused(std::string const& command) {
    SCOPED_TRACE(command);
    EXPECT_TRUE(fails_with(4, kUnwritable + std::string("No space left on device"),
                           run_command(command + " > /dev/full")));
    EXPECT_TRUE(fails_with(4, kUnwritable + std::string("Bad file descriptor"),
                           run_command(command + " >&-")));
    // The reader is gone before the first byte: it takes none.
    auto const broken = fmt::format("mkfifo {0}; exec 3<>{0}; exec 4>{0}; exec 3<&-; {1} >&4",
                                    path("pipe"), command);
    EXPECT_TRUE(fails_with(4, kUnwritable + std::string("Broken pipe"), run_command(broken)));
    fs::remove(m_dir / "pipe");
  }
};

TEST_F(BrokenStreams, a_run_does_not_miss_a_log_that_cannot_be_written) {
  for (auto const& overrides : {std::string(), spilling() + "debug.fault=storage-write-all:9"}) {
    fs::remove_all(m_dir / "whole");
    auto const whole = train(overrides + " run.dir=" + path("whole"));
    for (auto const* stderr_to : {"2> /dev/full", "2>&-", "2>&- >&- <&-"}) {
      SCOPED_TRACE(stderr_to);
      fs::remove_all(m_dir / "run");
      auto const outcome = run_command(train_command(overrides) + " " + stderr_to);
      EXPECT_EQ(outcome.status, whole.status) << outcome.output;
      EXPECT_EQ(bits("run"), bits("whole"));
    }
  }
}

TEST_F(BrokenStreams, a_run_whose_reader_has_gone_goes_on) {
  ASSERT_EQ(train("run.dir=" + path("whole")).status, 0);
  auto const outcome =
      run_command(fmt::format("({} 2>&1; echo $? > {}) | true", train_command(""), path("status")));
  EXPECT_EQ(read("status"), "0\n") << outcome.output;
  EXPECT_EQ(bits("run"), bits("whole"));
}

TEST_F(BrokenStreams, no_data_file_gets_the_number_of_a_closed_stream) {
  auto const outcome = run_command(train_command("") + " <&- >&- 2>&-");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  // What is said begins with the program's name, or is the plan's explanation, or progress.
  for (auto const* name : {"run/metrics.jsonl", "run/lock", "run/config.yaml", "run/latest"})
    for (auto const* said : {"spillway: ", "Predicted: ", "step 1/4"})
      EXPECT_EQ(read(name).find(said), std::string::npos) << name;
}

TEST_F(BrokenStreams, the_numbers_of_closed_streams_are_taken_and_lead_nowhere) {
  auto const places = path("places");
  auto const closed = train_command("run.steps=1000000") + " <&- >&- 2>&- & ";
  auto const look =
      fmt::format("for fd in 0 1 2; do readlink /proc/$!/fd/$fd; done > {}; ", places);
  auto const outcome =
      run_command(closed + until(has_step(path("run"))) + look + "kill -TERM $!; wait $!");
  EXPECT_EQ(outcome.status, 75) << outcome.output;
  EXPECT_EQ(read("places"), "/\n/\n/\n");
}

TEST_F(BrokenStreams, results_that_do_not_arrive_are_an_error) {
  ASSERT_EQ(train("").status, 0);
  auto const us = spillway_command(kAlone) + " ";
  expect_refused(with_job("plan") + "--machine " + machine_file());
  expect_refused(with_job("plan") + "--json --machine " + machine_file());
  expect_refused(us + "inspect " + path("tokens.h5"));
  expect_refused(us + "inspect " + path("run/step-4"));
  expect_refused(us + "inspect " + path("run/plan.yaml"));
  expect_refused(us + "generate --tokens 3 --prompt a --checkpoint " + path("run/step-4"));
  expect_refused(with_job("eval") + "data.valid=" + path("tokens.h5") + " --checkpoint " +
                 path("run/step-4"));
  expect_refused(us + "tokenize -o " + path("new.h5") + " " + path("job.yaml"));
  expect_refused(us + "doctor " + m_dir.string());
  expect_refused(us + "--print-config");
  expect_refused(us + "--print-config " + path("job.yaml"));
  expect_refused(us + "--version");
  expect_refused(us + "plan --help");
}

// As network file systems do it, which find no room only then.
TEST_F(BrokenStreams, results_that_are_refused_when_their_file_is_closed_are_an_error) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  auto const closed_with = [&](std::string const& error) {
    return run_command(planted({.calls = "close", .path = path("said"), .what = error}) +
                       spillway_command(kAlone) + " --version > " + path("said"));
  };
  EXPECT_TRUE(
      fails_with(4, kUnwritable + std::string("Disk quota exceeded"), closed_with("EDQUOT")));
  EXPECT_EQ(closed_with("EINTR").status, 0) << "it is closed all the same";
}

TEST_F(BrokenStreams, results_of_two_ranks_that_do_not_arrive_end_both) {
  ASSERT_EQ(train("").status, 0);
  auto const eval = fmt::format("eval {} data.valid={} --checkpoint {}", path("job.yaml"),
                                path("tokens.h5"), path("run/step-4"));
  auto const script = fmt::format("exec {} {} > /dev/full", spillway_command(kAlone), eval);
  write("rank.sh", script);
  auto const command = spillway_command(kTwoRanks);
  auto const mpirun = command.substr(0, command.rfind(' '));
  EXPECT_TRUE(fails_with(4, kUnwritable, run_command(mpirun + " sh " + path("rank.sh"))));
}

TEST_F(BrokenStreams, mistakes_are_still_a_status_where_nothing_can_be_said) {
  for (auto const* broken : {" 2> /dev/full", " 2>&-"}) {
    EXPECT_EQ(run_command(train_command("run.steps=x") + broken).status, 2);
    EXPECT_EQ(run_command(spillway_command(kAlone) + " nonsense" + broken).status, 2);
    EXPECT_EQ(run_command(spillway_command(kAlone) + " plan --nonsense" + broken).status, 2);
    EXPECT_EQ(run_command(spillway_command(kAlone) + broken).status, 2);
  }
}

}  // namespace
}  // namespace spillway::test::broken_streams_test
