// Pipes, devices and links where files are expected: nothing waits for them, nothing follows them.
#include <fmt/format.h>
#include <sys/stat.h>

#include "fault_test.hpp"

namespace spillway::test::odd_files_test {
namespace {

namespace fs = std::filesystem;

class OddFiles : public FaultTest {
 protected:
  void make_pipe(std::string const& name) const {
    fs::remove(m_dir / name);
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
  }
  Outcome spillway(std::string const& arguments) const {
    return run_command(spillway_command(kAlone) + " " + arguments);
  }
};

TEST_F(OddFiles, pipes_and_devices_are_refused_wherever_a_file_is_read) {
  make_pipe("pipe");
  struct Case {
    std::string file, kind;
  };
  for (auto const& [file, kind] : {Case{path("pipe"), "a pipe"}, Case{"/dev/zero", "a device"}}) {
    auto const refusal = fmt::format("{}: is {}, not a file", file, kind);
    EXPECT_TRUE(fails_with(2, refusal, spillway("train " + file)));
    EXPECT_TRUE(
        fails_with(2, refusal, spillway("plan --machine " + file + " " + path("job.yaml"))));
    EXPECT_TRUE(fails_with(2, refusal, spillway("inspect " + file)));
    EXPECT_TRUE(fails_with(2, refusal, spillway("tokenize -o " + path("x.h5") + " " + file)));
    EXPECT_TRUE(fails_with(2, refusal, train("data.train=" + file)));
    EXPECT_TRUE(fails_with(2, refusal, train("debug.machine=" + file)));
    EXPECT_TRUE(fails_with(2, refusal, train("plan.file=" + file)));
  }
}

TEST_F(OddFiles, a_pipe_instead_of_latest_ends_the_run) {
  ASSERT_EQ(train("run.steps=2").status, 0);
  make_pipe("run/latest");
  auto const outcome = train("");
  EXPECT_EQ(complaints(outcome).size(), 1u) << outcome.output;
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.status, 124) << "it waited";
}

TEST_F(OddFiles, a_pipe_instead_of_metrics_is_refused) {
  fs::create_directory(m_dir / "run");
  make_pipe("run/metrics.jsonl");
  EXPECT_TRUE(fails_with(2, "metrics.jsonl: is not a regular file", train("")));
}

TEST_F(OddFiles, the_input_may_come_through_the_shell) {
  auto const plan = [&](std::string const& input) {
    return fmt::format("cat {} | {} plan --machine {} {}", path("job.yaml"),
                       spillway_command(kAlone), machine_file(), input);
  };
  for (auto const* input : {"/dev/stdin", "/dev/fd/0"}) {
    auto const outcome = run_command(plan(input));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
  }
  auto const endless = fmt::format("{} plan /dev/stdin < /dev/zero", spillway_command(kAlone));
  EXPECT_TRUE(fails_with(2, "/dev/stdin: is larger than 4 MiB", run_command(endless)));
}

TEST_F(OddFiles, a_cached_profile_that_is_a_pipe_is_measured_anew) {
  auto const cached = fmt::format("XDG_CACHE_HOME={} ", path("cache"));
  auto const command = cached + train_command("run.steps=1 debug.machine=none");
  ASSERT_EQ(run_command(command).status, 0);
  std::string profile;
  for (auto const& entry : fs::directory_iterator(m_dir / "cache/spillway"))
    profile = entry.path().lexically_relative(m_dir);
  make_pipe(profile);
  auto const outcome = run_command(command + " run.dir=" + path("again"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("is a pipe, not a file; measured anew"), std::string::npos)
      << outcome.output;
}

TEST_F(OddFiles, planted_links_are_not_written_through) {
  write("mine", "kept");
  fs::create_directory(m_dir / "run");
  for (auto const* name :
       {"config.yaml", "plan.json", "plan.txt", "plan.yaml", "environment.json", "latest"})
    fs::create_symlink(m_dir / "mine", m_dir / "run" / (std::string(name) + ".partial"));
  EXPECT_EQ(train("").status, 0);
  EXPECT_EQ(read("mine"), "kept");
}

TEST_F(OddFiles, names_with_escapes_do_not_reach_the_terminal) {
  auto const outcome = spillway("train \"" + path("no\033]0;title\007.yaml") + "\"");
  EXPECT_TRUE(fails_with(2, "no\\x1b]0;title\\x07.yaml: cannot be read", outcome));
  EXPECT_EQ(outcome.output.find('\033'), std::string::npos);
}

// The soft limit of open files is low, commonly 1024, and a data set may have more.
TEST_F(OddFiles, more_than_the_soft_limit_allows_are_opened) {
  fs::create_directory(m_dir / "many");
  for (int i = 0; i < 80; ++i) write_token_file(m_dir / fmt::format("many/{}.h5", i), 100);
  auto const command = train_command("run.steps=1 data.train=" + path("many") + "/*.h5");
  auto const soft = run_command("ulimit -S -n 64; " + command);
  EXPECT_EQ(soft.status, 0) << soft.output;
  EXPECT_TRUE(
      fails_with(2, "Too many open files; `ulimit -n`", run_command("ulimit -n 64; " + command)));
}

}  // namespace
}  // namespace spillway::test::odd_files_test
