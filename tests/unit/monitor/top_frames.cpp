// Frames of `top`, which always fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/printable.hpp"
#include "monitor/top_frame.hpp"
#include "report/metrics.hpp"

namespace spillway::test::top_frames_test {
namespace {

std::size_t characters(std::string const& line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string joined(std::vector<std::string> const& lines) {
  return std::accumulate(lines.begin(), lines.end(), std::string(),
                         [](auto text, auto const& line) { return text + line + "\n"; });
}

// A run of 40 steps that has come to `steps`, and whose steps take 2 s, logged every second one.
RunRecord run_at(std::int64_t steps) {
  RunRecord run{.dir = "runs/mine"};
  run.config.emplace();
  run.config->run.steps = 40;
  run.config->run.log_every = 2;
  run.config->memory.device_bytes = 8 << 20;
  run.at_work = {true, "pid 12"};
  run.host = "node3";
  run.history.add(to_json(RunEvent{"start", 0}, 1'000'000'000));
  for (std::int64_t step = 2; step <= steps; step += 2) {
    StepMetrics row;
    row.step = step;
    row.loss = {10.0 / static_cast<double>(step), 1};
    row.step_s = 2;
    row.tokens_per_s = 512;
    row.lr = 1e-3;
    row.grad_norm = 0.5;
    row.peak_bytes[Tier::device] = 6 << 20;
    row.lanes.use[index(Lane::compute)] = {1.5, 0.25, 0};
    if (step == 4) row.valid = LossSums{3, 1};
    run.history.add(to_json(row));
  }
  run.written_at_s = 1'000'000'000 + 2 * static_cast<double>(steps);
  return run;
}

TEST(TopFrames, say_how_far_a_run_is_and_what_it_does) {
  auto const text = joined(top_frame(run_at(10), 1, {80, 24, false}));
  for (auto const* words :
       {"runs/mine: at work: pid 12 on node3\n", "step 10/40 ###", " 25 %", "elapsed 21 s",
        "left 60 s", "loss 1.0000 (least)   valid 3.0000 (least)\n",
        "lr 0.001   norm 0.5   512 tokens/s   2 s a step\n", "computing               75 %",
        "250 ms\n", "device memory          6 MiB  ###############.....      8 MiB\n",
        "last events\n", "2001-09-09T01:46:40Z  start at step 0\n"})
    EXPECT_NE(text.find(words), text.npos) << words << "in\n" << text;
  EXPECT_EQ(text.find("no step for"), text.npos) << text;
}

TEST(TopFrames, fit_every_window) {
  auto run = run_at(40);
  run.dir = std::string(200, 'd');
  for (bool const unicode : {false, true})
    for (std::size_t const rows : {1, 2, 5, 24, 60})
      for (std::size_t const columns : {1, 7, 20, 80, 200}) {
        auto const lines = top_frame(run, 1e6, {columns, rows, unicode});
        EXPECT_LE(lines.size(), rows);
        for (auto const& line : lines) EXPECT_LE(characters(line), columns) << line;
      }
}

TEST(TopFrames, notice_that_no_step_came_for_long) {
  auto const has_notice = [](RunRecord const& run, double silent_s) {
    return joined(top_frame(run, silent_s, {})).find("no step for") != std::string::npos;
  };
  auto run = run_at(10);
  EXPECT_FALSE(has_notice(run, 29));
  EXPECT_TRUE(has_notice(run, 31));
  auto const text = joined(top_frame(run, 312, {}));
  EXPECT_NE(text.find("no step for 5m12s: the last took 2 s, and one of 2 is logged\n"), text.npos)
      << text;
  run.at_work = {std::nullopt, "pid 12 on far"};
  EXPECT_TRUE(has_notice(run, 31));
  run.at_work = {false};
  EXPECT_FALSE(has_notice(run, 31)) << "nobody is there";
  auto const fresh = joined(top_frame(run_at(0), 40, {}));
  EXPECT_NE(fresh.find("no step for 40 s: none is done yet\n"), fresh.npos) << fresh;
}

constexpr auto kSlow = "rank 3 (host n3): the others wait 120 ms of each 800 ms step for it";

TEST(TopFrames, name_a_rank_that_is_slow_now) {
  auto run = run_at(10);
  run.history.add(to_json(RunEvent{"slow-rank", 10, {{"why", kSlow}}}, 0));
  auto const line = std::string("slow: ") + kSlow + "\n";
  auto const text = joined(top_frame(run, 1, {}));
  EXPECT_NE(text.find(line), text.npos) << text;
  run.at_work = {false};
  EXPECT_EQ(joined(top_frame(run, 1, {})).find(line), text.npos) << "nobody is there";
}

TEST(TopFrames, show_a_directory_without_rows_and_settings) {
  RunRecord run{.dir = "runs/new"};
  run.at_work = {true, "pid 7"};
  EXPECT_EQ(joined(top_frame(run, 3, {80, 24, false})),
            "runs/new: at work: pid 7\nstep 0\nno step is logged yet\n");
}

TEST(TopFrames, say_how_the_last_job_ended) {
  auto run = run_at(10);
  RunEvent end{"end", 10};
  end.exit = 75;
  run.history.add(to_json(end, 1'000'000'030));
  run.at_work = {false};
  auto const text = joined(top_frame(run, 500, {}));
  EXPECT_NE(text.find("not at work: its last job ended with 75: stopped as asked\n"), text.npos)
      << text;
  EXPECT_EQ(text.find("left "), text.npos) << text;
}

TEST(TopFrames, obey_nothing_that_stands_in_files) {
  auto run = run_at(4);
  run.history.add(R"({"event":"replan","step":4,"time":"\u001b[2Jx\ny","why":"\u0007"})");
  for (auto const& line : top_frame(run, 0, {80, 40, true})) {
    EXPECT_EQ(line, printable(line));
    EXPECT_EQ(line.find('\n'), line.npos) << line;
  }
}

}  // namespace
}  // namespace spillway::test::top_frames_test
