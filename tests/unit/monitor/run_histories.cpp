// What rows of metrics.jsonl come to.
#include <gtest/gtest.h>

#include <cmath>

#include "monitor/run_history.hpp"
#include "report/metrics.hpp"

namespace spillway::test::run_histories_test {
namespace {

std::string row(std::int64_t step, double loss) {
  StepMetrics metrics;
  metrics.step = step;
  metrics.tokens = 100 * step;
  metrics.loss = {loss, 1};
  metrics.step_s = 0.5;
  metrics.tokens_per_s = 200;
  return to_json(metrics);
}

std::string event(std::string const& name, std::int64_t step) {
  return to_json(RunEvent{name, step}, 1'000'000'000);
}

std::vector<double> losses(RunHistory const& history) {
  std::vector<double> losses;
  for (auto const& point : history.losses()) losses.push_back(point.loss);
  return losses;
}

// The rows are those that a run writes.
TEST(MetricsRows, are_read_as_they_are_written) {
  StepMetrics metrics;
  metrics.step = 7;
  metrics.tokens = 11;
  metrics.loss = {6, 2};
  metrics.grad_norm = 0.5;
  metrics.lr = 1e-3;
  metrics.step_s = 0.25;
  metrics.tokens_per_s = 44;
  metrics.mfu = 0.4;
  metrics.valid = LossSums{8, 2};
  metrics.peak_bytes[Tier::host] = 13;
  metrics.lanes.use[index(Lane::host)] = {0.125, 0.0625, 0};
  auto const parsed = parse_metrics_row(to_json(metrics));
  ASSERT_TRUE(parsed && std::holds_alternative<StepRow>(*parsed));
  auto const& step = std::get<StepRow>(*parsed);
  EXPECT_EQ(step.step, 7);
  EXPECT_EQ(step.tokens, 11);
  EXPECT_EQ(step.loss, 3);
  EXPECT_EQ(step.valid_loss, 4);
  EXPECT_EQ(step.grad_norm, 0.5);
  EXPECT_EQ(step.lr, 1e-3);
  EXPECT_EQ(step.step_s, 0.25);
  EXPECT_EQ(step.tokens_per_s, 44);
  EXPECT_EQ(step.mfu, 0.4);
  EXPECT_EQ(step.matmul_share, std::nullopt);
  EXPECT_EQ(step.peak_bytes[Tier::host], 13);
  ASSERT_EQ(step.lanes.size(), 1u);
  EXPECT_EQ(step.lanes[0].lane, Lane::host);
  EXPECT_EQ(step.lanes[0].busy_s, 0.125);
  EXPECT_EQ(step.lanes[0].stall_s, 0.0625);
}

TEST(MetricsRows, of_events_are_read_as_they_are_written) {
  RunEvent written{"resume", 40, {{"from", "run/step-40"}, {"job", "12"}}, {"optim.lr 1 -> 2"}};
  written.predicted_step_s = 0.75;
  auto const parsed = parse_metrics_row(to_json(written, 1'000'000'000));
  ASSERT_TRUE(parsed && std::holds_alternative<EventRow>(*parsed));
  auto const& row = std::get<EventRow>(*parsed);
  EXPECT_EQ(row.event, "resume");
  EXPECT_EQ(row.step, 40);
  EXPECT_EQ(row.from, "run/step-40");
  EXPECT_EQ(row.job, "12");
  EXPECT_EQ(row.changed, (std::vector<std::string>{"optim.lr 1 -> 2"}));
  EXPECT_EQ(row.predicted_step_s, 0.75);
  EXPECT_EQ(row.exit, std::nullopt);
  EXPECT_EQ(parse_time_s(row.time), 1'000'000'000);
  RunEvent end{"end", 41};
  end.exit = 75;
  EXPECT_EQ(std::get<EventRow>(*parse_metrics_row(to_json(end, 0))).exit, 75);
}

// As a tool may have written them that knows no whole numbers.
TEST(MetricsRows, may_have_a_point_in_whole_numbers) {
  auto const row = parse_metrics_row(R"({"step":2.0,"tokens":1.28e2})");
  ASSERT_TRUE(row);
  EXPECT_EQ(std::get<StepRow>(*row).step, 2);
  EXPECT_EQ(std::get<StepRow>(*row).tokens, 128);
}

TEST(MetricsRows, that_are_none_are_left_out) {
  for (auto const* line :
       {"", "{", "[]", "7", "{}", R"({"step":-1})", R"({"step":"2"})", R"({"step":1e300})",
        R"({"step":1.5})", R"({"event":7,"step":1})", "{\"step\":1,"})
    EXPECT_FALSE(parse_metrics_row(line)) << line;
  auto const odd = parse_metrics_row(R"({"step":3,"loss":null,"lanes":[],"peak_bytes":7})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(std::get<StepRow>(*odd).loss, std::nullopt);
  for (auto const* text : {"", "2001-09-09", "2001-09-09T01:46:40Zx"})
    EXPECT_FALSE(parse_time_s(text)) << text;
}

// The step at which the rank that is slow now became so, or -1.
std::int64_t slow_since(RunHistory const& history) {
  return history.slow_rank() ? history.slow_rank()->step : -1;
}

TEST(RunHistories, know_a_rank_that_is_slow_until_that_is_over_or_the_job_is) {
  RunHistory history;
  EXPECT_EQ(slow_since(history), -1);
  history.add(event("start", 0));
  history.add(event("slow-rank", 3));
  history.add(row(4, 1));
  history.add(event("replan", 4));
  EXPECT_EQ(slow_since(history), 3);
  history.add(event("slow-rank-over", 5));
  EXPECT_EQ(slow_since(history), -1);
  for (auto const* name : {"end", "resume"}) {
    history.add(event("slow-rank", 6));
    EXPECT_EQ(slow_since(history), 6);
    history.add(event(name, 7));
    EXPECT_EQ(slow_since(history), -1) << name;
  }
}

TEST(RunHistories, keep_what_the_plan_predicts_beside_a_slow_rank) {
  RunHistory history;
  RunEvent start{"start", 0};
  start.predicted_step_s = 0.25;
  history.add(to_json(start, 0));
  history.add(event("slow-rank", 3));
  history.add(event("slow-rank-over", 6));
  EXPECT_EQ(history.predicted_step_s(), 0.25);
}

TEST(RunHistories, undo_what_a_job_does_once_more) {
  RunHistory history;
  history.add(event("start", 0));
  for (int step = 1; step <= 4; ++step) history.add(row(step, 10 - step));
  EXPECT_EQ(losses(history), (std::vector<double>{9, 8, 7, 6}));
  history.add(event("resume", 2));
  EXPECT_EQ(losses(history), (std::vector<double>{9, 8}));
  EXPECT_FALSE(history.last());
  history.add(row(3, 5));
  EXPECT_EQ(losses(history), (std::vector<double>{9, 8, 5}));
  ASSERT_EQ(history.jobs().size(), 2u);
  EXPECT_EQ(history.jobs()[0].last_step, 4);
  EXPECT_FALSE(history.jobs()[0].end);
  EXPECT_EQ(history.jobs()[1].last_step, 3);
  ASSERT_EQ(history.events().size(), 2u);
  EXPECT_EQ(history.events()[0].done_again, 0);
  EXPECT_EQ(history.events()[1].done_again, 2);
  EXPECT_EQ(history.events()[1].fields.at("step"), 2);
  history.add(event("start", 0));
  EXPECT_TRUE(history.losses().empty());
}

TEST(RunHistories, take_the_later_of_rows_that_tell_of_the_same_step) {
  RunHistory history;
  for (int const step : {10, 20, 10}) history.add(row(step, step));
  EXPECT_EQ(history.rows().steps, (std::vector<std::int64_t>{10}));
  history.add(event("replan", 5));
  EXPECT_EQ(history.rows().steps, (std::vector<std::int64_t>{10})) << "it undoes nothing";
}

TEST(RunHistories, count_the_lines_that_are_no_rows) {
  RunHistory history;
  for (auto const* line : {"", " \t", "[]", "{\"step\":\"a\"}", "{\"step\":3,\"lo"})
    history.add(line);
  EXPECT_EQ(history.unread_lines(), 3);
  history.add(R"({"step":2,"loss":null})");
  EXPECT_EQ(history.unread_lines(), 3);
  EXPECT_TRUE(std::isnan(history.rows().of(Metric::loss)[0]));
  EXPECT_TRUE(history.losses().empty());
}

// The first step of a plan takes longer, as memory is new.
TEST(RunHistories, take_the_first_row_of_a_plan_for_its_speed_only_if_it_is_alone) {
  RunHistory history;
  history.add(R"({"step":1,"step_s":9})");
  EXPECT_EQ(history.recent_step_s(), 9);
  history.add(R"({"step":2,"step_s":1})");
  EXPECT_EQ(history.recent_step_s(), 1);
  for (int step = 3; step < 40; ++step)
    history.add("{\"step\":" + std::to_string(step) + ",\"step_s\":3}");
  EXPECT_EQ(history.recent_step_s(), 3);
}

TEST(RunHistories, know_the_least_loss_and_the_last_rows_speed) {
  RunHistory history;
  EXPECT_EQ(least_of(history.losses()), nullptr);
  EXPECT_EQ(history.recent_step_s(), 0);
  history.add(event("start", 0));
  history.add(row(1, 3));
  history.add(row(2, 1));
  history.add(row(3, 2));
  EXPECT_EQ(least_of(history.losses())->step, 2);
  EXPECT_EQ(history.recent_step_s(), 0.5);
  EXPECT_EQ(history.recent_tokens_per_s(), 200);
  history.add(event("replan", 3));
  EXPECT_EQ(history.recent_step_s(), 0) << "the old plan's steps tell nothing of the new one";
  EXPECT_EQ(history.jobs().back().replans, 1);
}

}  // namespace
}  // namespace spillway::test::run_histories_test
