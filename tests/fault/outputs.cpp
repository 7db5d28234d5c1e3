// What -o and --save may replace, what they write through, and what is left of them when they end
// early.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "fault_test.hpp"
#include "preload.hpp"
#include "tests/support/names_in.hpp"

namespace spillway::test::outputs_test {
namespace {

namespace fs = std::filesystem;

class Outputs : public FaultTest {
 protected:
  Outputs() { write("text", "to be or not to be\n"); }

  static Outcome spillway(std::string const& arguments) {
    return run_command(spillway_command(kAlone) + " " + arguments);
  }
  std::string tokenize(std::string const& to) const {
    return fmt::format("tokenize {} -o {}", path("text"), to);
  }
  std::string plan(std::string const& to) const {
    return fmt::format("plan {} --machine {} --save {}", path("job.yaml"), machine_file(), to);
  }
  // Every command that writes a file, in one word where it does not matter which.
  std::vector<std::string> commands(std::string const& to) const {
    return {tokenize(to), plan(to), fmt::format("profile {} -o {}", path("job.yaml"), to),
            fmt::format("rok {} --micro 1 -o {}", path("job.yaml"), to)};
  }
  void expect_refused(std::string const& command, std::string const& why) const {
    auto const before = names_in(m_dir);
    EXPECT_TRUE(fails_with(2, why, spillway(command))) << command;
    EXPECT_EQ(names_in(m_dir), before) << command;
  }
  // Of `text`, whole: its checksums hold. (HDF5 writes the time into it: bytes differ.)
  bool is_token_file(std::string const& name) const {
    auto const outcome = spillway("inspect " + path(name));
    return outcome.status == 0 &&
           outcome.output.find("begins      to be or not to be") != std::string::npos;
  }
  bool make_device(std::string const& name, unsigned number) const {
    return ::mknod(path(name).c_str(), S_IFCHR | 0666, ::makedev(1, number)) == 0;
  }
};

TEST_F(Outputs, a_device_is_written_through_and_stays) {
  if (!make_device("null", 3) || !make_device("full", 7)) GTEST_SKIP() << "makes no devices";
  for (auto const& command : commands(path("null"))) {
    auto const outcome = spillway(command);
    EXPECT_EQ(outcome.status, 0) << command << "\n" << outcome.output;
    EXPECT_TRUE(fs::is_character_file(path("null"))) << command;
  }
  for (auto const& command : {tokenize(path("full")), plan(path("full"))}) {
    EXPECT_TRUE(fails_with(4, "full: cannot be written: No space left", spillway(command)));
    EXPECT_TRUE(fs::is_character_file(path("full"))) << command;
  }
  fs::create_symlink(path("null"), path("link"));
  EXPECT_EQ(spillway(tokenize(path("link"))).status, 0);
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_character_file(path("null")));
}

TEST_F(Outputs, pipes_and_open_descriptors_get_the_bytes_of_a_file) {
  auto const us = spillway_command(kAlone) + " ";
  auto const into = [&](std::string const& to, std::string const& around) {
    auto const shell = fmt::format(fmt::runtime(around), us + tokenize(to), m_dir.string());
    EXPECT_EQ(run_command(shell).status, 0) << shell;
    EXPECT_TRUE(is_token_file("copy")) << shell;
    fs::remove(path("copy"));
  };
  // A link of our own, as /dev/stdout is one: a program that replaces it must not harm the system.
  fs::create_symlink("/proc/self/fd/1", path("stdout"));
  into(path("stdout"), "{} 2>/dev/null | cat > {}/copy");
  EXPECT_TRUE(fs::is_symlink(path("stdout")));
  into("/dev/fd/3", "{} 3> {}/copy");
  into("/proc/self/fd/1", "{} 2>/dev/null > {}/copy");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  into(path("pipe"), "cat {1}/pipe > {1}/copy & {0}; status=$?; wait; exit $status");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

// As a program leaves it that reads several things at once: writes to it do not wait.
TEST_F(Outputs, a_pipe_that_does_not_wait_gets_all_bytes) {
  write("long", std::string(2'000'000, 'x'));
  write("reader.py",
        "import os, subprocess, sys\n"
        "reader, writer = os.pipe()\n"
        "os.set_blocking(writer, False)\n"
        "filling = 0\n"
        "try:\n"
        "    while True: filling += os.write(writer, bytes(4096))\n"
        "except BlockingIOError: pass\n"
        "child = subprocess.Popen(sys.argv[1:], stdout=writer, stderr=subprocess.DEVNULL)\n"
        "os.close(writer)\n"
        "size = sum(iter(lambda: len(os.read(reader, 65536)), 0))\n"
        "print(child.wait(), size - filling > 2000000)\n");
  auto const outcome =
      run_command(fmt::format("python3 {} {} tokenize {} -o /dev/stdout", path("reader.py"),
                              spillway_command(kAlone), path("long")));
  EXPECT_EQ(outcome.output, "0 True\n");
}

TEST_F(Outputs, nobody_else_may_look_at_what_passes_through) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  fs::create_directory(m_dir / "tmp");
  Planted const hangs{.calls = "fsync", .path = "spillway-output-", .what = "hang"};
  auto const folder = path("tmp") + "/spillway-output-*";
  auto const outcome = run_command(
      fmt::format("umask 022; env TMPDIR={} {} {} {} > {} & ", path("tmp"), planted(hangs),
                  spillway_command(kAlone), tokenize("/dev/stdout"), path("seen")) +
      until(fmt::format("ls {}/* > {} 2>&1", folder, path("listed"))) +
      fmt::format("stat -c %a {}; kill -TERM $!; wait $!", folder));
  EXPECT_EQ(outcome.status, 143) << outcome.output;
  ASSERT_FALSE(outcome.lines().empty());
  EXPECT_EQ(outcome.lines().front(), "700");
  EXPECT_TRUE(fs::is_empty(m_dir / "tmp"));
}

TEST_F(Outputs, an_input_is_never_an_output_under_any_name) {
  fs::create_symlink(path("text"), path("link"));
  fs::create_hard_link(path("text"), path("twin"));
  auto const job = read("job.yaml");
  for (auto const* force : {"", " --force"}) {
    for (auto const* name : {"text", "link", "twin"})
      expect_refused(tokenize(path(name)) + force, std::string(name) + ": is read by this command");
    for (auto const& command : commands(path("job.yaml")))
      if (!command.starts_with("tokenize"))
        expect_refused(command + force, "job.yaml: is read by this command");
    for (auto const* name : {"tokens.h5", "t*.h5"})
      expect_refused(fmt::format("{} 'data.train={}'", plan(path("tokens.h5")) + force, path(name)),
                     "tokens.h5: is read by this command");
  }
  fs::copy_file(machine_file(), path("m.yaml"));
  for (auto const* force : {"", " --force"})
    expect_refused(fmt::format("plan {} --machine {} --save {}{}", path("job.yaml"), path("m.yaml"),
                               path("m.yaml"), force),
                   "m.yaml: is read by this command");
  write("saved.yaml", "prefetch: 1\n");
  expect_refused(plan(path("saved.yaml")) + " --force plan.file=" + path("saved.yaml"),
                 "saved.yaml: is read by this command");
  EXPECT_EQ(read("text"), "to be or not to be\n");
  EXPECT_EQ(read("job.yaml"), job);
}

TEST_F(Outputs, only_what_the_program_made_is_replaced_unless_it_is_forced) {
  for (auto const& command : commands(path("out.csv"))) {
    write("out.csv", "my own notes\n");
    expect_refused(command, "out.csv: is there and is not a");
    EXPECT_EQ(read("out.csv"), "my own notes\n");
    write("out.csv", "");  // as mktemp makes it
    EXPECT_EQ(spillway(command).status, 0) << command;
    auto const again = spillway(command);
    EXPECT_EQ(again.status, 0) << command << "\n" << again.output;
    fs::remove(path("out.svg"));
    write("out.csv", "my own notes\n");
    EXPECT_EQ(spillway(command + " --force").status, 0) << command;
    EXPECT_NE(read("out.csv"), "my own notes\n");
    fs::remove(path("out.svg"));
  }
  write("out.svg", "a drawing");
  fs::remove(path("out.csv"));
  expect_refused(commands(path("out.csv")).back(), "out.svg: is there and is not a chart");
  // One kind of output does not take another one's place.
  ASSERT_EQ(spillway(plan(path("saved"))).status, 0);
  expect_refused(tokenize(path("saved")), "saved: is there and is not a token file");
}

TEST_F(Outputs, a_link_stays_and_what_it_leads_to_is_judged) {
  fs::copy_file(path("tokens.h5"), path("real.h5"));
  fs::create_symlink("real.h5", path("link"));
  fs::create_symlink("none.h5", path("dangling"));
  fs::create_symlink("text", path("foreign"));
  EXPECT_EQ(spillway(tokenize(path("link"))).status, 0);
  EXPECT_EQ(spillway(tokenize(path("dangling"))).status, 0);
  EXPECT_TRUE(is_token_file("real.h5"));
  EXPECT_TRUE(is_token_file("none.h5"));
  for (auto const* name : {"link", "dangling"}) EXPECT_TRUE(fs::is_symlink(path(name))) << name;
  expect_refused(plan(path("foreign")), "foreign: is there and is not a plan");
  // Its size is said to be 0, as some network file systems say of files that have text.
  expect_refused(tokenize("/proc/self/status"), "status: is there and is not a token file");
}

TEST_F(Outputs, names_that_are_none_are_refused) {
  for (auto const& command : commands("\"\"")) EXPECT_EQ(spillway(command).status, 2) << command;
  EXPECT_NE(spillway(tokenize("\"\"")).output.find("'' is no name of a file"), std::string::npos);
  for (auto const* name : {"nvme", "nvme/"}) expect_refused(tokenize(path(name)), "is a directory");
  expect_refused(plan(path("none/saved")), "none/saved: cannot be created: No such file");
}

TEST_F(Outputs, a_signal_leaves_nothing_of_what_was_not_finished) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  Planted const hangs{.calls = "fsync", .path = "out.spillway-", .what = "hang"};
  for (auto const* signal : {"TERM", "INT", "HUP"}) {
    auto const number = std::map<std::string, int>{{"TERM", 15}, {"INT", 2}, {"HUP", 1}}.at(signal);
    for (auto const& command : {tokenize(path("out")), plan(path("out"))}) {
      auto const outcome = run_command(  // a shell's background jobs ignore SIGINT
          fmt::format("env --default-signal=INT {} {} {} & ", planted(hangs),
                      spillway_command(kAlone), command) +
          until(fmt::format("ls {}/out.spillway-* > {} 2>&1", m_dir.string(), path("seen"))) +
          fmt::format("kill -{} $!; wait $!", signal));
      EXPECT_EQ(outcome.status, 128 + number) << signal << " " << command << outcome.output;
      for (auto const& name : names_in(m_dir)) EXPECT_FALSE(name.starts_with("out")) << name;
    }
  }
}

TEST_F(Outputs, a_limit_of_file_sizes_is_an_error_and_leaves_nothing) {
  write("long", std::string(100'000, 'x'));
  auto const outcome = run_command(fmt::format(
      "ulimit -f 20; {} tokenize {} -o {}", spillway_command(kAlone), path("long"), path("out")));
  EXPECT_TRUE(fails_with(4, "File too large", outcome));
  for (auto const& name : names_in(m_dir)) EXPECT_FALSE(name.starts_with("out")) << name;
}

TEST_F(Outputs, the_umask_says_who_may_read_and_write_each_file) {
  struct Case {
    char const* mask;
    fs::perms expected;
  };
  auto const owner = fs::perms::owner_read | fs::perms::owner_write;
  auto const group = fs::perms::group_read | fs::perms::group_write;
  for (auto const& [mask, file] :
       {Case{"002", owner | group | fs::perms::others_read}, Case{"077", owner}}) {
    SCOPED_TRACE(mask);
    auto const masked = fmt::format("umask {}; ", mask);
    fs::remove_all(path("run"));
    auto const made = run_command(fmt::format(
        "{}mkdir -p {} && {} && {} {} && {} {}", masked, path("made"), train_command("run.steps=2"),
        spillway_command(kAlone), tokenize(path("made/tokens")), spillway_command(kAlone),
        plan(path("made/plan"))));
    ASSERT_EQ(made.status, 0) << made.output;
    int files = 0;
    for (auto const* place : {"run", "made"})
      for (auto const& entry : fs::recursive_directory_iterator(m_dir / place)) {
        if (!entry.is_regular_file()) continue;
        EXPECT_EQ(entry.status().permissions(), file) << entry.path();
        ++files;
      }
    EXPECT_GT(files, 10);
    fs::remove_all(path("made"));
  }
}

}  // namespace
}  // namespace spillway::test::outputs_test
