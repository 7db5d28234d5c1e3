// Runs that somebody looks at: `inspect` and `top`, and run directories that stand for checkpoints.
#include <fmt/format.h>

#include <fstream>

#include "fault_test.hpp"

namespace spillway::test::watched_runs_test {
namespace {

namespace fs = std::filesystem;

class WatchedRuns : public FaultTest {
 protected:
  Outcome spillway(std::string const& arguments, std::string const& before = "") const {
    return run_command(before + spillway_command(kAlone) + " " + arguments);
  }
  // Runs `top` on a terminal of 24 rows and 80 columns, where `what` happens once a frame is drawn,
  // in Python: `terminal` is its descriptor and `child` the process. Prints the status of `top`,
  // whether the terminal is as it was, and the rest as the test needs it.
  Outcome on_terminal(std::string const& what) const {
    write(
        "terminal.py",
        "import fcntl, os, pty, signal, struct, sys, termios\n"
        "terminal, inner = pty.openpty()\n"
        "fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))\n"
        "before = termios.tcgetattr(inner)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os.setsid()\n"
        "    fcntl.ioctl(inner, termios.TIOCSCTTY, 0)\n"
        "    for fd in (0, 1, 2): os.dup2(inner, fd)\n"
        "    os.execvp(sys.argv[1], sys.argv[1:])\n"
        "seen = b''\n"
        "def until(text):\n"
        "    global seen\n"
        "    while text not in seen: seen += os.read(terminal, 65536)\n"
        "until(b'last events')\n"
        "quiet = termios.tcgetattr(inner)[3] & termios.ECHO == 0\n" +
            what +
            "until(b'\\x1b[?1049l')\n"
            "status = os.waitpid(child, 0)[1]\n"
            "print(os.waitstatus_to_exitcode(status), quiet, before == termios.tcgetattr(inner),\n"
            "      seen.count(b'\\x1b[?1049h'), seen.rstrip().endswith(b'\\x1b[?1049l'))\n");
    return run_command(fmt::format("python3 {} {} top {}", path("terminal.py"),
                                   spillway_command(kAlone), path("run")));
  }
};

TEST_F(WatchedRuns, are_described_while_they_train_and_after) {
  ASSERT_EQ(train("run.steps=2 run.checkpoint.every=1").status, 0);
  auto const inspected = spillway("inspect " + path("run"));
  EXPECT_EQ(inspected.status, 0);
  for (auto const* words : {"  state        not at work: its last job ended with 0: done\n",
                            "  step         2 of 2 (100 %)", "  plan         Fits with ",
                            "  checkpoints  2\n", "the newest: a job goes on from it\n"})
    EXPECT_NE(inspected.output.find(words), std::string::npos) << words << inspected.output;
  auto const framed = spillway("top " + path("run"));
  EXPECT_EQ(framed.status, 0);
  EXPECT_NE(framed.output.find("step 2/2 "), std::string::npos) << framed.output;
  EXPECT_EQ(framed.output.find('\x1b'), std::string::npos) << "no terminal";
  auto const outcome =
      run_command(train_command("run.steps=1000000 > ") + path("said") + " 2>&1 & " +
                  until("grep -q resume " + path("run/metrics.jsonl")) + spillway_command(kAlone) +
                  " inspect " + path("run") + "; kill -TERM $!; wait $!");
  EXPECT_EQ(outcome.status, 75) << outcome.output;
  EXPECT_NE(outcome.output.find("  state        at work: pid "), std::string::npos)
      << outcome.output;
  EXPECT_TRUE(fails_with(2, "is no directory of a run", spillway("top " + path("nvme"))));
  EXPECT_TRUE(fails_with(2, "is no directory of a run", spillway("top " + path("run/step-2"))));
}

// A file of a run stands for the run, unless there is more to say of it.
TEST_F(WatchedRuns, are_described_by_the_files_in_them) {
  ASSERT_EQ(train("run.trace=3").status, 0);
  auto const run = spillway("inspect " + path("run")).output;
  for (auto const* name : {"config.yaml", "environment.json", "metrics.jsonl", "plan.json",
                           "plan.txt", "summary.json", "trace.json"}) {
    auto const inspected = spillway("inspect " + path("run/") + name);
    EXPECT_EQ(inspected.status, 0) << inspected.output;
    EXPECT_TRUE(inspected.output.starts_with(path("run/") + name + ": ")) << inspected.output;
    EXPECT_TRUE(inspected.output.ends_with("\n" + run)) << inspected.output;
  }
  EXPECT_TRUE(spillway("inspect " + path("run/plan.yaml")).output.starts_with("plan "));
  for (auto const* name : {"summary.json", "trace.json"}) {
    fs::copy_file(m_dir / "run" / name, m_dir / name);
    EXPECT_TRUE(fails_with(2, "is no Program, which `spillway plan --items --json` prints, but ",
                           spillway("inspect " + path(name))));
  }
  write("other.json", "{}");
  EXPECT_TRUE(fails_with(2, "prints", spillway("inspect " + path("other.json"))));
}

TEST_F(WatchedRuns, that_lie_in_a_directory_are_shown_by_its_name) {
  ASSERT_EQ(train("run.steps=1 run.dir=" + path("runs/a")).status, 0);
  ASSERT_EQ(train("run.steps=1 run.dir=" + path("runs/b")).status, 0);
  fs::create_directory(m_dir / "runs/c");
  write("runs/c/lock", "4242\n");
  auto const table = spillway("inspect " + m_dir.string());
  EXPECT_EQ(table.status, 0) << table.output;
  for (auto const* name : {"\nruns/a ", "\nruns/b ", "\nruns/c "})
    EXPECT_NE(table.output.find(name), std::string::npos) << table.output;
  auto const page = spillway("report " + path("runs"));
  EXPECT_EQ(page.status, 0) << page.output;
  EXPECT_NE(page.output.find("a page of 2 runs"), std::string::npos) << page.output;
  EXPECT_TRUE(fs::exists(m_dir / "runs/report.html"));
  EXPECT_TRUE(
      fails_with(2, "name one, such as " + path("runs/a"), spillway("top " + path("runs"))));
  EXPECT_TRUE(fails_with(2, "holds no run", spillway("inspect " + path("nvme"))));
}

TEST_F(WatchedRuns, leave_the_terminal_as_it_was_whoever_ends_the_look) {
  ASSERT_EQ(train("run.steps=1").status, 0);
  for (auto const* end : {"os.write(terminal, b'q')\n", "os.write(terminal, b'\\x03')\n",
                          "os.kill(child, signal.SIGTERM)\n", "os.kill(child, signal.SIGHUP)\n"})
    EXPECT_EQ(on_terminal(end).output, "0 True True 1 True\n") << end;
  auto const stopped = on_terminal(
      "os.write(terminal, b'\\x1a')\n"
      "os.waitpid(child, os.WUNTRACED)\n"
      "quiet = quiet and before == termios.tcgetattr(inner)\n"
      "os.kill(child, signal.SIGCONT)\n"
      "seen = seen[seen.index(b'\\x1b[?1049h') + 1:]\n"
      "until(b'\\x1b[?1049h')\n"
      "seen = seen[seen.index(b'\\x1b[?1049h'):]\n"
      "os.write(terminal, b'q')\n");
  EXPECT_EQ(stopped.output, "0 True True 1 True\n");
}

// Wherever a command takes a checkpoint.
TEST_F(WatchedRuns, stand_for_their_newest_checkpoints_in_every_command) {
  ASSERT_EQ(train("run.checkpoint.every=2").status, 0);
  auto const job = path("job.yaml"), data = " data.valid=" + path("tokens.h5");
  struct Row {
    std::string what, command;
  };
  for (auto const& [what, command] : std::vector<Row>{
           {"eval", fmt::format("eval {}{} --checkpoint {{}}", job, data)},
           {"generate --checkpoint", "generate --prompt a --tokens 3 --checkpoint {}"},
           {"generate", "generate {} --prompt a --tokens 3"},
           {"export", "export {} --force -o " + path("out")},
           {"run.init", fmt::format("train {} run.steps=1 optim.lr=1e-4 run.dir={} run.init={{}}",
                                    job, path("again"))},
       }) {
    fs::remove_all(m_dir / "again");
    auto const of_run = spillway(fmt::format(fmt::runtime(command), path("run")));
    EXPECT_EQ(of_run.status, 0) << what << of_run.output;
    if (what == "run.init") {
      EXPECT_NE(of_run.output.find("weights from " + path("run/step-4")), std::string::npos)
          << of_run.output;
      continue;
    }
    auto const of_step = spillway(fmt::format(fmt::runtime(command), path("run/step-4")));
    EXPECT_EQ(of_step.status, 0) << what << of_step.output;
    EXPECT_EQ(of_run.output, of_step.output) << what;
  }
  write("model.yaml",
        fmt::format("model: {{import: {}}}\ndata: {{train: {}, sequence: 64}}\n"
                    "batch: {{sequences: 2}}\nrun: {{steps: 1, threads: 1, dir: {}}}\n"
                    "debug: {{machine: {}}}\n",
                    path("run"), path("tokens.h5"), path("third"), machine_file()));
  auto const imported = spillway("train " + path("model.yaml"));
  EXPECT_EQ(imported.status, 0) << imported.output;
  EXPECT_NE(imported.output.find("weights from " + path("run/step-4")), std::string::npos)
      << imported.output;
  EXPECT_NE(imported.output.find("warning: optim.lr: 0.0006, the default, "), std::string::npos)
      << imported.output;
  fs::remove(m_dir / "run/latest");
  EXPECT_TRUE(fails_with(2, "run", spillway("generate --prompt a " + path("run"))));
}

}  // namespace
}  // namespace spillway::test::watched_runs_test
