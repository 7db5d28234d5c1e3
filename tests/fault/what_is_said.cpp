// What a run says before, during and after its steps, in a log and on a terminal.
#include <fmt/format.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/work_progress.hpp"
#include "fault_test.hpp"

namespace spillway::test::what_is_said_test {
namespace {

constexpr std::string_view kErase = "\r\033[K";

// Returns all that a command writes to a terminal of so many columns.
std::string on_terminal(std::string const& command, unsigned short columns) {
  int master = -1;
  winsize const size{24, columns, 0, 0};
  auto const child = ::forkpty(&master, nullptr, nullptr, &size);
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  EXPECT_GT(child, 0);
  std::string text;
  for (std::array<char, 4096> some{};;) {
    auto const got = ::read(master, some.data(), some.size());
    if (got <= 0) break;  // a terminal that nobody has open any more gives EIO
    text.append(some.data(), static_cast<std::size_t>(got));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0) << text;
  ::close(master);
  return text;
}

// Splits what a terminal got where a line is erased.
std::vector<std::string> drawings(std::string const& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    auto const next = text.find(kErase, at);
    parts.push_back(text.substr(at, next == text.npos ? next : next - at));
    if (next == text.npos) return parts;
    at = next + kErase.size();
  }
}

class WhatIsSaid : public FaultTest {
 protected:
  static bool has(Outcome const& outcome, std::string const& part) {
    return outcome.output.find(part) != outcome.output.npos;
  }
};

// A busy machine makes commands say more than tests compare.
TEST_F(WhatIsSaid, tests_leave_out_how_far_a_command_has_come) {
  Work const evaluation{"eval", "batches", 78}, bytes{"tokenize", "bytes", 3 << 20},
      plans{"plan", "plans"};
  std::string const others = "eval: loss 3.21\nplan: 4 plans, each proved\n";
  std::string said = "first\n";
  for (auto const& line : {work_line(evaluation, 8, 4), work_line(evaluation, 8, 4, "loss 3.21"),
                           work_line(bytes, 1 << 20, 2), work_line(plans, 3, 60, "batch.micro=32")})
    said += line + "\n";
  write("said.txt", said + others);
  EXPECT_EQ(run_command("cat " + path("said.txt")).output, "first\n" + others);
}

TEST_F(WhatIsSaid, a_plan_is_told_in_brief_and_not_again_by_the_next_job) {
  auto const first = train("run.steps=2");
  ASSERT_EQ(first.status, 0) << first.output;
  auto const head = first.output.substr(0, first.output.find("step 1/2"));
  EXPECT_LT(head.size(), first.output.size()) << first.output;
  for (auto const& line : Outcome{0, head}.lines())
    EXPECT_TRUE(line.size() <= 80 || line.starts_with("spillway: ") ||
                line.find(m_dir.string()) != line.npos)
        << line;
  for (auto const* part : {"\n  model      gpt of ", "\n  run        2 steps of ",
                           "\n  takes      ", "\nFits with ", "\nLayer by layer "})
    EXPECT_TRUE(has(first, part)) << part << first.output;
  EXPECT_TRUE(has(first, "and why: " + path("run/plan.txt"))) << first.output;
  EXPECT_NE(read("run/plan.txt").find("What is there when the most bytes are in use"),
            std::string::npos);

  auto const same = train("run.steps=4");
  EXPECT_TRUE(has(same, "\n  run        steps 3 to 4 of ")) << same.output;
  EXPECT_TRUE(has(same, "\n  plan       as it was: " + path("run/plan.txt"))) << same.output;
  EXPECT_FALSE(has(same, "Layer by layer")) << same.output;

  auto const other = train("run.steps=6 plan.activations=recompute");
  EXPECT_FALSE(has(other, "as it was")) << other.output;
  EXPECT_TRUE(has(other, "\nLayer by layer ")) << other.output;
}

TEST_F(WhatIsSaid, a_log_has_no_control_characters_and_says_what_is_saved) {
  auto const run = train("run.log.every=1 run.checkpoint.every=2");
  ASSERT_EQ(run.status, 0) << run.output;
  for (char const c : run.output) ASSERT_TRUE(c == '\n' || c >= ' ' || c < 0) << run.output;
  for (int step = 1; step <= 4; ++step)
    EXPECT_TRUE(has(run, fmt::format("\nstep {}/4  loss ", step))) << run.output;
  for (auto const* step : {"2", "4"})
    EXPECT_TRUE(has(run, "\nsaved " + path("run/step-") + step + " in ")) << run.output;
  EXPECT_TRUE(has(run, "\nwhere the time of training went, in seconds\n")) << run.output;
}

TEST_F(WhatIsSaid, a_terminal_has_a_live_line_that_fits_and_logged_lines_above_it) {
  for (unsigned short const columns : {24, 60, 100}) {
    std::filesystem::remove_all(m_dir / "run");
    auto const text = on_terminal(train_command("run.log.every=2"), columns);
    auto const parts = drawings(text);
    ASSERT_GT(parts.size(), 4u) << text;
    auto kept = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) {
      auto const& part = parts[i];
      bool const stays = part.find('\n') != part.npos;
      kept += stays ? part : "";
      EXPECT_TRUE(stays || part.size() < columns) << part;
    }
    for (auto const* step : {"step 1/4  ", "step 2/4  ", "step 4/4  ", "saved "})
      EXPECT_NE(kept.find(step), kept.npos) << step << text;
    EXPECT_EQ(kept.find("step 3/4"), kept.npos) << text;
    EXPECT_NE(parts.back().find("training went"), std::string::npos)
        << "no live line is left: " << text;
  }
}

TEST_F(WhatIsSaid, a_terminal_sees_which_plan_is_made_of_many) {
  auto const plan = spillway_command(kAlone) + " plan " + path("job.yaml");
  auto const largest = on_terminal(plan + " --largest batch.micro", 100);
  EXPECT_NE(largest.find("plan: 0 plans, batch.micro="), largest.npos) << largest;
  auto const table = on_terminal(plan + " --budgets device=32,64MiB", 100);
  EXPECT_NE(table.find("plan: 0 of 2 plans"), table.npos) << table;
  auto const what_if = on_terminal(plan + " --what-if", 100);
  EXPECT_NE(what_if.find("plan: 0 of "), what_if.npos) << what_if;
}

TEST_F(WhatIsSaid, what_was_warned_of_is_repeated_at_the_end) {
  auto const run = train("run.eval.every=0 data.valid=none data.train=[" + path("tokens.h5") + "," +
                         path("tokens.h5") + "]");
  ASSERT_EQ(run.status, 0) << run.output;
  EXPECT_TRUE(has(run, "\n1 warning:\n  data.train:")) << run.output;
}

}  // namespace
}  // namespace spillway::test::what_is_said_test
