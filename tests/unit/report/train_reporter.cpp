// What a run reports of its steps, and when.
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/standard_streams.hpp"
#include "report/environment.hpp"
#include "report/reporter.hpp"
#include "tests/support/captured_log.hpp"
#include "version.hpp"

namespace spillway::train_reporter_test {
namespace {

using Json = nlohmann::json;

StepResult step_of(double seconds) {
  StepResult result;
  result.loss_sum = 6;
  result.weight_sum = 4;
  result.grad_norm = 2.5;
  result.learning_rate = 0.125;
  result.step_s = seconds;
  auto& use = result.lanes.use[index(Lane::h2d)];
  use = {0.5, 0.25, 3};
  result.lanes.compute_stall_s[index(Lane::d2h)] = 0.75;
  return result;
}

class Reporting : public ::testing::Test {
 protected:
  Reporting() {
    std::filesystem::remove_all(m_path);
    m_config.run.steps = 7;
    m_config.run.log_every = 3;
  }
  ~Reporting() override { std::filesystem::remove_all(m_path); }

  std::vector<Json> rows() const {
    std::vector<Json> result;
    std::ifstream file(m_path / "metrics.jsonl");
    for (std::string line; std::getline(file, line);) result.push_back(Json::parse(line));
    return result;
  }

  std::filesystem::path const m_path = std::filesystem::path(testing::TempDir()) / "reporting";
  Config m_config;
  Machine m_machine{
      .matmul_gflops_bf16 = 4, .matmul_gflops_f32 = 2, .peak_gflops_bf16 = 8, .peak_gflops_f32 = 4};
};

TEST_F(Reporting, a_row_holds_what_the_step_came_to) {
  for (auto const precision : {Precision::bf16, Precision::fp32}) {
    m_config.precision = precision;
    {
      RunDir const dir(m_path);
      Reporter reporter(m_config, m_machine, 3e9, &dir);
      testing::internal::CaptureStderr();
      reporter.step({5, 1000, 48, step_of(1.5), {11, 12, 13}, LossSums{9, 2}});
      testing::internal::GetCapturedStderr();
    }
    auto const row = rows().back();
    EXPECT_EQ(row.at("step"), 5);
    EXPECT_EQ(row.at("tokens"), 1000);
    EXPECT_EQ(row.at("targets"), 4);
    EXPECT_EQ(row.at("loss"), 1.5);
    EXPECT_EQ(row.at("grad_norm"), 2.5);
    EXPECT_EQ(row.at("lr"), 0.125);
    EXPECT_EQ(row.at("step_s"), 1.5);
    EXPECT_EQ(row.at("tokens_per_s"), 32);
    EXPECT_EQ(row.at("mfu"), precision == Precision::bf16 ? 0.25 : 0.5);
    EXPECT_EQ(row.at("matmul_share"), precision == Precision::bf16 ? 0.5 : 1);
    EXPECT_EQ(row.at("peak_bytes"), Json({{"device", 11}, {"host", 12}, {"nvme", 13}}));
    EXPECT_EQ(row.at("lanes").at("h2d").at("bytes"), 3);
    EXPECT_EQ(row.at("stall_by"), Json({{"d2h", 0.75}}));
    EXPECT_EQ(row.at("valid_loss"), 4.5);
  }
}

// Others may have been busy while products were measured.
TEST_F(Reporting, a_step_that_beats_the_rate_of_products_raises_it) {
  m_config.precision = Precision::bf16;
  m_machine.peak_gflops_bf16 = 0;
  RunDir const dir(m_path);
  Reporter reporter(m_config, m_machine, 16e9, &dir);
  testing::internal::CaptureStderr();
  for (double const seconds : {8.0, 1.0, 2.0}) reporter.step({7, 0, 1, step_of(seconds), {}, {}});
  testing::internal::GetCapturedStderr();
  std::vector<double> shares, rates;
  for (auto const& row : rows()) {
    shares.push_back(row.at("matmul_share"));
    rates.push_back(row.at("matmul_gflops"));
    EXPECT_TRUE(row.at("mfu").is_null());
  }
  EXPECT_EQ(shares, (std::vector{0.5, 1.0, 0.5}));
  EXPECT_EQ(rates, (std::vector{4.0, 16.0, 16.0}));
}

TEST_F(Reporting, shares_of_rates_that_nobody_knows_stay_unknown) {
  RunDir const dir(m_path);
  Reporter reporter(m_config, {}, 16e9, &dir);
  testing::internal::CaptureStderr();
  for (double const seconds : {8.0, 1.0}) reporter.step({7, 0, 1, step_of(seconds), {}, {}});
  testing::internal::GetCapturedStderr();
  ASSERT_EQ(rows().size(), 2u);
  for (auto const& row : rows()) {
    EXPECT_TRUE(row.at("mfu").is_null());
    EXPECT_TRUE(row.at("matmul_share").is_null());
    EXPECT_EQ(row.at("matmul_gflops"), 0);
  }
}

// A run that goes on at its third step: its first one, every third, the last, and any evaluation.
TEST_F(Reporting, rows_and_lines_are_of_the_same_steps) {
  RunDir const dir(m_path);
  Reporter reporter(m_config, m_machine, 1, &dir);
  testing::internal::CaptureStderr();
  reporter.event({"resume", 1, {}, {}});
  for (std::int64_t step = 2; step <= 7; ++step) {
    auto const valid = step == 4 ? std::optional(LossSums{}) : std::nullopt;
    reporter.step({step, 0, 1, step_of(1), {}, valid});
  }
  auto const said = "\n" + testing::internal::GetCapturedStderr();
  std::string steps, lines;
  for (auto const& row : rows()) steps += row.at("step").dump();
  for (auto at = said.find("\nstep "); at != said.npos; at = said.find("\nstep ", at + 1))
    lines += said[at + 6];
  EXPECT_EQ(steps, "123467");
  EXPECT_EQ(lines, "23467");
  EXPECT_EQ(rows().front().at("event"), "resume");
}

// Rank 1 is slow from the first step to the third.
TEST_F(Reporting, a_slow_rank_is_in_rows_and_told_once) {
  test::CapturedLog log;
  m_config.run.log_every = 1;
  RunDir const dir(m_path);
  Reporter reporter(m_config, m_machine, 1, &dir, {"here", "there"});
  std::array<MutualWait, 2> waits{};
  testing::internal::CaptureStderr();
  for (std::int64_t step = 1; step <= 7; ++step) {
    waits[0].waited_s = waits[1].awaited_s = step <= 3 ? 2.5 : 0;
    auto result = step_of(10);
    result.waits = waits;
    reporter.step({step, 0, 1, result, {}, {}});
  }
  testing::internal::GetCapturedStderr();
  std::string story;
  for (auto const& row : rows()) {
    if (row.contains("event")) {
      story += row.at("event").get<std::string>() + row.at("step").dump() + " ";
      EXPECT_EQ(row.at("rank"), 1);
      EXPECT_TRUE(row.at("why").get<std::string>().starts_with("rank 1 (host there)")) << row;
    } else if (row.contains("slow_rank")) {
      story += row.at("step").dump() + " ";
      EXPECT_EQ(row.at("slow_rank"), 1);
      EXPECT_EQ(row.at("slow_rank_wait_s"), 2.5);
    }
  }
  EXPECT_EQ(story, "1 2 3 slow-rank3 slow-rank-over6 ");
  EXPECT_EQ(log.taken(),
            "warning: rank 1 (host there) is slow: the others wait 2.5 s of each 10 s step for it; "
            "docs/runs.md, \"Ranks that are not equally fast\", says what to do\n");
}

// The job before was killed behind its fifth step, and saved its second one last; a job in between
// has come no further.
TEST_F(Reporting, knows_the_steps_that_an_earlier_job_had_done_and_lost) {
  RunDir const dir(m_path);
  std::ofstream(m_path / "metrics.jsonl")
      << "cut}\n{\"step\":3,\"loss\":1}\n{\"step\":5}\n{\"event\":\"resume\",\"step\":2}\n";
  Reporter reporter(m_config, m_machine, 1, &dir);
  testing::internal::CaptureStderr();
  reporter.event({"resume", 2, {}, {}});
  EXPECT_EQ(reporter.done_again().steps, 0);
  for (std::int64_t step = 3; step <= 7; ++step)
    reporter.step({step, 0, 1, step_of(static_cast<double>(step)), {}, {}});
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(reporter.done_again().steps, 3);
  EXPECT_EQ(reporter.done_again().seconds, 3 + 4 + 5);
}

TEST_F(Reporting, one_that_begins_anew_has_lost_nothing_of_the_run_before) {
  RunDir const dir(m_path);
  std::ofstream(m_path / "metrics.jsonl") << "{\"step\":5}\n";
  Reporter reporter(m_config, m_machine, 1, &dir);
  testing::internal::CaptureStderr();
  reporter.event({"start", 0, {}, {}});
  reporter.step({1, 0, 1, step_of(1), {}, {}});
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(reporter.done_again().steps, 0);
}

TEST_F(Reporting, one_that_logs_nothing_counts_all_the_same) {
  Reporter reporter(m_config, m_machine, 1, nullptr);
  EXPECT_EQ(reporter.median_step_s(), 0);
  testing::internal::CaptureStderr();
  reporter.event({"start", 0, {}, {}});
  for (double const seconds : {9.0, 1.0, 5.0, 2.0}) {
    reporter.step({1, 0, 1, step_of(seconds), {}, {}});
    EXPECT_EQ(reporter.median_step_s() == 9, seconds == 9.0) << "there is no other";
  }
  EXPECT_EQ(reporter.median_step_s(), 2) << "without the first, which is slow";
  auto const& sum = reporter.lanes();
  EXPECT_EQ(sum.use[index(Lane::h2d)], (LaneUse{2, 1, 12}));
  EXPECT_EQ(sum.use[index(Lane::d2h)], LaneUse{});
  EXPECT_EQ(sum.compute_stall_s[index(Lane::d2h)], 3);
  reporter.change_plan();
  EXPECT_EQ(reporter.median_step_s(), 0);
  reporter.step({1, 0, 1, step_of(3), {}, {}});
  EXPECT_EQ(reporter.median_step_s(), 3);
  EXPECT_EQ(sum.use[index(Lane::h2d)], (LaneUse{2.5, 1.25, 15})) << "of all plans";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

StepMetrics row_of(std::int64_t step, double step_s) {
  StepMetrics row;
  row.step = step;
  row.loss = {1, 2};
  row.step_s = step_s;
  return row;
}

TEST(ProgressShown, a_log_gets_a_line_where_a_row_is_written_and_no_control_characters) {
  Progress progress(100, {});
  testing::internal::CaptureStderr();
  progress.show(row_of(90, 1), {5, 10}, true);
  progress.show(row_of(91, 11), {16, 9}, false);
  progress.show(row_of(92, 2), {18, 16}, true);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "step 90/100   loss 0.5000  lr 0.00e+00  norm 0      0 tok/s  ETA 10 s\n"
            "step 92/100   loss 0.5000  lr 0.00e+00  norm 0      0 tok/s  ETA 16 s\n");
}

constexpr char kLive[] = "\r\033[K";

TEST(ProgressShown, a_terminal_keeps_logged_lines_above_its_live_line) {
  Progress progress(9, {.terminal = true, .columns = 30});
  testing::internal::CaptureStderr();
  progress.show(row_of(1, 1), {1, 8}, false);
  progress.show(row_of(2, 1), {2, 7}, true);
  auto evaluated = row_of(3, 1);
  evaluated.valid = LossSums{3, 4};
  progress.show(evaluated, {3, 6}, true);
  say("a word");
  progress.show(row_of(4, 1), {4, 5}, false);
  say("the end");
  std::string const live = kLive, fields = " loss  0.500 left     ";
  std::string const more = "  loss 0.5000  lr 0.00e+00  norm 0      0 tok/s  ETA ";
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            live + "1/9" + fields + "8 s" + live + "step 2/9" + more + "7 s\n" + live + "2/9" +
                fields + "7 s" + live + "step 3/9" + more + "6 s\nvalid 0.7500 at step 3\n" + live +
                "3/9" + fields + "6 s" + live + "a word\n" + live + "4/9" + fields + "5 s" + live +
                "the end\n");
}

TEST(ProgressShown, a_terminal_is_not_redrawn_faster_than_it_is_read) {
  Progress progress(9, {.terminal = true, .columns = 30});
  testing::internal::CaptureStderr();
  for (double const elapsed_s : {1.0, 1.05, 1.09, 1.2})
    progress.show(row_of(1, 0.01), {elapsed_s, 1}, false);
  say("");
  auto const shown = testing::internal::GetCapturedStderr();
  std::size_t drawn = 0;
  for (auto at = shown.find(kLive); at != shown.npos; at = shown.find(kLive, at + 1)) ++drawn;
  EXPECT_EQ(drawn, 2u + 1) << "twice, and erased: " << shown;
}

// What it shows on a terminal of so many columns; 0: which does not say.
std::string shown(unsigned short columns) {
  int master = -1, terminal = -1;
  winsize const size{24, columns, 0, 0};
  EXPECT_EQ(::openpty(&master, &terminal, nullptr, nullptr, &size), 0);
  int const before = ::dup(STDERR_FILENO);
  ::dup2(terminal, STDERR_FILENO);
  Progress(9, {.terminal = true}).show(row_of(1, 1), {1, 8}, false);
  say_live("");
  ::dup2(before, STDERR_FILENO);
  EXPECT_EQ(::write(terminal, "\x04", 1), 1);  // the end, for the reader below
  std::string text;
  for (std::array<char, 256> some{}; !text.ends_with('\x04');) {
    auto const got = ::read(master, some.data(), some.size());
    if (got <= 0) break;
    text.append(some.data(), static_cast<std::size_t>(got));
  }
  for (int const each : {before, terminal, master}) ::close(each);
  return text.substr(0, text.size() - 1);
}

TEST(ProgressShown, a_terminal_is_asked_how_wide_it_is) {
  for (unsigned short const columns : {20, 50, 120}) {
    auto const line = live_line(row_of(1, 1), 9, {1, 8}, columns - 1);
    EXPECT_EQ(shown(columns), kLive + line + kLive) << columns;
  }
  EXPECT_EQ(shown(0), kLive + live_line(row_of(1, 1), 9, {1, 8}, 79) + kLive) << "an ordinary one";
}

}  // namespace
}  // namespace spillway::train_reporter_test
