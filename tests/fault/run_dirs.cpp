// A run's directory on file systems that lack something or fail, and its metrics.jsonl.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "fault_test.hpp"
#include "preload.hpp"

namespace spillway::test::run_dirs_test {
namespace {

namespace fs = std::filesystem;

class RunDirs : public FaultTest {
 protected:
  void SetUp() override {
    if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  }
  std::string with(Planted fault, std::string const& overrides = "") const {
    if (fault.path.empty()) fault.path = m_dir.string();
    return planted(fault) + train_command(overrides);
  }
  // Counts lines of the log, which its closing list of warnings repeats.
  static auto count(Outcome const& outcome, std::string const& text) {
    return std::ranges::count_if(outcome.lines(), [&](auto const& line) {
      return line.starts_with("spillway: ") && line.find(text) != line.npos;
    });
  }

  Planted const m_no_flock{.calls = "flock", .what = "ENOSYS"};
};

TEST_F(RunDirs, without_flock_a_file_says_who_runs_there) {
  for (auto const* error : {"ENOSYS", "ENOLCK", "EOPNOTSUPP"}) {
    auto const outcome = run_command(with({.calls = "flock", .what = error}, "run.steps=1"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(count(outcome, "this file system has no flock"), 1) << outcome.output;
    EXPECT_FALSE(fs::exists(m_dir / "run/lock.owner"));
  }
}

TEST_F(RunDirs, that_cannot_be_locked_for_another_reason_say_so) {
  for (auto const* error : {"EIO", "EACCES"}) {
    auto const outcome = run_command(with({.calls = "flock", .what = error}));
    EXPECT_TRUE(fails_with(2, "`lock` cannot be locked: ", outcome));
  }
  fs::create_directories(m_dir / "run");
  write("run/plan-7.yaml.partial", "of the job that runs there");
  auto const outcome = run_command(with({.calls = "flock", .what = "EWOULDBLOCK"}));
  EXPECT_TRUE(fails_with(2, "another job is running in it", outcome));
  EXPECT_TRUE(fs::exists(m_dir / "run/plan-7.yaml.partial"));
}

TEST_F(RunDirs, without_flock_belong_to_one_job_at_a_time) {
  auto const first = with(m_no_flock, "run.steps=1000000");
  auto const began = until(has_step(path("run")));
  auto const second =
      with(m_no_flock) + " > " + path("said") + " 2>&1; echo $? > " + path("status") + "; ";
  auto const outcome = run_command(first + " & " + began + second + "kill -9 $!; wait $!");
  EXPECT_EQ(outcome.status, 137) << outcome.output;
  EXPECT_EQ(read("status"), "2\n");
  EXPECT_NE(read("said").find("another job is running here, pid "), std::string::npos)
      << read("said");

  auto const after = run_command(with(m_no_flock));
  EXPECT_EQ(after.status, 0) << after.output;
  EXPECT_EQ(count(after, "has ended; taken over"), 1) << after.output;
}

TEST_F(RunDirs, without_flock_that_another_job_has_taken_over_are_left_to_it) {
  auto const took = fmt::format("rm {0}; echo other > {0}; ", path("run/lock.owner"));
  for (int const ranks : {kAlone, kTwoRanks}) {
    fs::remove_all(m_dir / "run");
    auto const outcome =
        run_command(planted({.calls = "flock", .path = m_dir.string(), .what = "ENOSYS"}) +
                    train_command("run.steps=1000000 run.checkpoint.every=0", ranks) + " & " +
                    until(has_step(path("run"))) + took + "wait $!");
    EXPECT_TRUE(fails_with(2, "another job has taken it over", outcome));
    EXPECT_EQ(read("run/lock.owner"), "other\n");
    EXPECT_FALSE(fs::exists(m_dir / "run/latest"));
    EXPECT_FALSE(fs::exists(m_dir / "run/summary.json"));
    EXPECT_EQ(read("run/metrics.jsonl").find("\"end\""), std::string::npos);
  }
}

// The checkpoint after the one that may be under way is refused, long before the next renewal.
TEST_F(RunDirs, without_flock_that_another_job_has_taken_over_get_no_further_checkpoint) {
  auto const owner = path("run/lock.owner");
  auto const rows = "grep -c loss_hex " + path("run/metrics.jsonl");
  auto const outcome = run_command(with(m_no_flock, "run.steps=1000000 run.checkpoint.every=1") +
                                   " & " + until("test -s " + path("run/latest")) +
                                   fmt::format("rm {0}; echo other > {0}; ", owner) + rows + " > " +
                                   path("rows") + "; wait $!");
  EXPECT_TRUE(fails_with(2, "another job has taken it over", outcome));
  EXPECT_LE(read_metrics(m_dir / "run").size(), std::stoul(read("rows")) + 2);
}

TEST_F(RunDirs, whose_directories_cannot_be_synchronised_serve_with_one_warning) {
  for (auto const* error : {"EINVAL", "ENOSYS", "EOPNOTSUPP"}) {
    fs::remove_all(m_dir / "run");
    auto const outcome = run_command(with({.calls = "fsync", .what = error, .kind = "directory"}));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(count(outcome, "cannot synchronise directories"), 1) << outcome.output;
  }
  fs::remove_all(m_dir / "run");
  auto const outcome = run_command(with({.calls = "fsync", .what = "EIO", .kind = "directory"}));
  EXPECT_NE(outcome.status, 0) << outcome.output;
}

TEST_F(RunDirs, that_are_new_are_durable_with_their_parents) {
  auto const fault = Planted{.calls = "fsync", .kind = "directory", .count_file = path("synced")};
  auto const outcome = run_command(with(fault, "run.dir=" + path("a/b/run")));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  auto const synced = read("synced");
  for (auto const& each : {m_dir.string(), path("a"), path("a/b")})
    EXPECT_NE(synced.find("fsync " + each + "\n"), synced.npos) << synced;
}

TEST_F(RunDirs, that_cannot_be_written_for_a_while_are_said_and_tried_again) {
  struct Case {
    char const *calls, *path, *what, *words;
  };
  for (auto const& [calls, file, what, words] :
       {Case{"mkdir", "/step-", "EROFS", "Read-only file system"},
        Case{"pwrite", "shard-0.h5", "ENOSPC", "No space left on device"},
        Case{"rename", "/latest", "EROFS", "Read-only file system"}}) {
    fs::remove_all(m_dir / "run");
    Planted const fault{.calls = calls, .path = file, .what = what, .at = "1-2"};
    auto const outcome = run_command(with(fault, "run.checkpoint.every=1 run.steps=5"));
    EXPECT_EQ(outcome.status, 0) << calls << outcome.output;
    EXPECT_GE(count(outcome, words), 1) << outcome.output;
    EXPECT_GE(count(outcome, "tried again when the next is due"), 1) << outcome.output;
    EXPECT_EQ(read("run/latest"), "step-5\n");
  }
}

TEST_F(RunDirs, whose_last_checkpoint_cannot_be_written_end_with_its_error) {
  Planted const fault{.calls = "mkdir", .path = "/step-4", .what = "EROFS"};
  auto const outcome = run_command(with(fault, "run.checkpoint.every=3"));
  EXPECT_TRUE(fails_with(4, "Read-only file system", outcome));
  EXPECT_EQ(count(outcome, "spillway: error: rank 0: checkpoint of step 4: "), 1) << outcome.output;
  EXPECT_EQ(count(outcome, "; it was the last one; those before it are unharmed"), 1)
      << outcome.output;
  EXPECT_EQ(read("run/latest"), "step-3\n");
}

TEST_F(RunDirs, whose_checkpoints_are_taken_away_get_others) {
  auto const latest = path("run/latest");
  auto const outcome = run_command(
      train_command("run.steps=1000000 run.checkpoint.every=2 > " + path("said") + " 2>&1") +
      " & " + until("test -s " + latest) +
      fmt::format("rm -rf {} {}; ", path("run/step-*"), latest) + until("test -s " + latest) +
      "kill -USR1 $!; wait $!");
  EXPECT_EQ(outcome.status, 75) << outcome.output << read("said");
  auto name = read("run/latest");
  name.pop_back();
  EXPECT_TRUE(fs::exists(m_dir / "run" / name / "seal"));
}

TEST_F(RunDirs, whose_lock_is_taken_away_hold_it_anew) {
  auto const lock = path("run/lock");
  auto const outcome = run_command(train_command("run.steps=1000000 run.checkpoint.every=2") +
                                   " & " + until("test -s " + path("run/latest")) + "rm " + lock +
                                   "; " + until("test -s " + lock) + "flock -n " + lock +
                                   " true && exit 99; "
                                   "kill -USR1 $!; wait $!");
  EXPECT_EQ(outcome.status, 75) << outcome.output;
  EXPECT_EQ(count(outcome, "removed or replaced `lock`; it is held anew"), 1) << outcome.output;
}

// Held by the shell, under a file that takes its place in one move.
TEST_F(RunDirs, whose_lock_another_job_holds_are_left_to_it) {
  auto const other = path("other");
  auto const outcome = run_command(
      train_command("run.steps=1000000 run.checkpoint.every=2") + " & " +
      until("test -s " + path("run/latest")) +
      fmt::format("exec 9> {0}; flock 9; mv {0} {1}; wait $!", other, path("run/lock")));
  EXPECT_TRUE(fails_with(2, "another job has taken it over, for `lock` was removed", outcome));
}

TEST_F(RunDirs, whose_metrics_are_moved_away_go_on_in_a_new_file) {
  auto const metrics = path("run/metrics.jsonl");
  fs::create_directory(m_dir / "rotated");
  auto const outcome = run_command(train_command("run.steps=1000000 run.checkpoint.every=0") +
                                   " & " + until(has_step(path("run"))) +
                                   fmt::format("mv {} {}; ", metrics, path("rotated")) +
                                   until(has_step(path("run"))) + "kill -USR1 $!; wait $!");
  EXPECT_EQ(outcome.status, 75) << outcome.output;
  EXPECT_EQ(count(outcome, "metrics.jsonl was removed or replaced"), 1) << outcome.output;
  auto const before = read_metrics(m_dir / "rotated"), after = read_metrics(m_dir / "run");
  EXPECT_EQ(after.front()["step"].get<int>(), before.back()["step"].get<int>() + 1);
}

// Every second write fails behind its first half: two calls for a row.
TEST_F(RunDirs, lose_rows_on_a_full_disk_and_go_on_with_the_next) {
  auto const outcome = run_command(with({.calls = "write",
                                         .path = "metrics.jsonl",
                                         .what = "ENOSPC",
                                         .at = "4-7",
                                         .writes_half = true},
                                        "run.steps=6"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(count(outcome, "metrics.jsonl cannot be written (No space left on device)"), 1);
  EXPECT_EQ(count(outcome, "metrics.jsonl can be written again; 2 rows are missing"), 1)
      << outcome.output;
  std::vector<int> steps;
  for (auto const& row : read_metrics(m_dir / "run")) steps.push_back(row["step"]);
  EXPECT_EQ(steps, (std::vector{1, 2, 5, 6}));
}

TEST_F(RunDirs, say_at_the_end_which_rows_are_missing) {
  auto const outcome =
      run_command(with({.calls = "write", .path = "metrics.jsonl", .what = "EDQUOT", .at = "3-"}));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(count(outcome, "metrics.jsonl: the last 4 rows are missing"), 1) << outcome.output;
  EXPECT_EQ(read_metrics(m_dir / "run").size(), 1u);
}

// A reader, and the next job, find the old one.
TEST_F(RunDirs, keep_a_text_whole_where_the_next_one_finds_no_room) {
  ASSERT_EQ(train("").status, 0);
  for (std::string const name :
       {"config.yaml", "environment.json", "plan.json", "plan.txt", "plan.yaml", "summary.json"}) {
    auto const before = read("run/" + name);
    ASSERT_FALSE(before.empty()) << name;
    auto const outcome =
        run_command(with({.calls = "write,pwrite", .path = name, .what = "ENOSPC"}, "run.steps=6"));
    EXPECT_EQ(read("run/" + name), before) << name << "\n" << outcome.output;
    EXPECT_NE(outcome.output.find("No space left on device"), std::string::npos) << name;
    fs::remove_all(m_dir / "run/step-6");
    write("run/latest", "step-4\n");
  }
}

// The run is safe in its checkpoint.
TEST_F(RunDirs, end_well_where_their_summary_finds_no_room) {
  auto const outcome =
      run_command(with({.calls = "write,pwrite", .path = "summary.json", .what = "ENOSPC"}));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(count(outcome, "spillway: warning: summary.json: "), 1) << outcome.output;
  EXPECT_EQ(read("run/latest"), "step-4\n");
  EXPECT_FALSE(fs::exists(m_dir / "run/summary.json"));
}

// Whichever is due first.
TEST_F(RunDirs, get_a_checkpoint_after_so_many_steps_or_minutes) {
  auto const steps = [&](std::string const& keys) {
    fs::remove_all(m_dir / "run");
    EXPECT_EQ(train("run.checkpoint.keep=9 run.steps=5 " + keys, kTwoRanks).status, 0);
    std::string saved;
    for (int step = 1; step <= 5; ++step)
      if (fs::exists(m_dir / fmt::format("run/step-{}", step))) saved += std::to_string(step);
    return saved;
  };
  EXPECT_EQ(steps("run.checkpoint.every=2"), "245");
  EXPECT_EQ(steps("run.checkpoint.every=2 run.checkpoint.minutes=1e6"), "245");
  EXPECT_EQ(steps("run.checkpoint.every=0 run.checkpoint.minutes=1e6"), "5");
  EXPECT_EQ(steps("run.checkpoint.every=0 run.checkpoint.minutes=1e-9"), "12345");
}

TEST_F(RunDirs, evaluate_every_so_many_steps_and_at_the_last_one) {
  write_token_file(m_dir / "valid.h5", 200);
  auto const evaluated = [&](std::string const& every) {
    fs::remove_all(m_dir / "run");
    EXPECT_EQ(
        train("run.steps=5 data.valid=" + path("valid.h5") + " run.eval.every=" + every).status, 0);
    std::string steps;
    for (auto const& row : read_metrics(m_dir / "run"))
      if (row.contains("valid_loss")) steps += std::to_string(row["step"].get<int>());
    return steps;
  };
  EXPECT_EQ(evaluated("0"), "5");
  EXPECT_EQ(evaluated("2"), "245");
  EXPECT_EQ(evaluated("5"), "5");
}

TEST_F(RunDirs, keep_no_text_that_a_killed_job_left_unfinished) {
  ASSERT_EQ(train("").status, 0);
  auto const unfinished = {"run/summary.json.partial", "run/plan-7.yaml.partial"};
  auto const others = {"run/notes.partial", "run/summary.json"};
  for (auto const* name : unfinished) write(name, "half");
  write("run/notes.partial", "of the user");
  ASSERT_EQ(train("").status, 0);  // has nothing to do
  for (auto const* name : unfinished) EXPECT_FALSE(fs::exists(m_dir / name)) << name;
  for (auto const* name : others) EXPECT_TRUE(fs::exists(m_dir / name)) << name;
}

TEST_F(RunDirs, do_not_glue_a_row_to_one_that_cannot_be_read) {
  ASSERT_EQ(train("run.steps=2").status, 0);
  std::ofstream(m_dir / "run/metrics.jsonl", std::ios::app) << "half";
  auto const outcome =
      run_command(with({.calls = "pread", .path = "metrics.jsonl", .what = "EIO"}, "run.steps=3"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(count(outcome, "its last row cannot be read"), 1) << outcome.output;
  EXPECT_NE(read("run/metrics.jsonl").find("\nhalf\n{"), std::string::npos);
}

TEST_F(RunDirs, do_not_glue_a_row_to_one_that_was_cut_short) {
  ASSERT_EQ(train("run.steps=2").status, 0);
  std::size_t steps = 2;
  for (auto const& torn : {std::string("{\"step\": 3, \"los"), std::string(10000, 'x')}) {
    std::ofstream(m_dir / "run/metrics.jsonl", std::ios::app) << torn;
    ++steps;
    auto const outcome = train(fmt::format("run.steps={}", steps));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(count(outcome, "its last row was cut short, and is removed"), 1) << outcome.output;
    EXPECT_EQ(read_metrics(m_dir / "run").size(), steps);
  }
}

}  // namespace
}  // namespace spillway::test::run_dirs_test
