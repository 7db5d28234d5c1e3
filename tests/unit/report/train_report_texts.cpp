// All that rows of metrics.jsonl and summary.json say, every number another one.
#include <gtest/gtest.h>

#include "report/metrics.hpp"
#include "report/summary.hpp"

namespace spillway::train_report_texts_test {
namespace {

// A lane that has rested is left out, and so are the bytes of one that moves none.
LaneReport lanes() {
  LaneReport report;
  report.use[index(Lane::compute)] = {4, 0.25, 0};
  report.use[index(Lane::d2h)] = {0, 0.0625, 9};
  report.use[index(Lane::nvme_read)] = {0.5, 0.125, 3'000'000'000};
  report.use[index(Lane::nvme_write)] = {2, 0.375, 5'000'000'000};
  report.compute_stall_s[index(Lane::h2d)] = 0.75;
  report.compute_stall_s[index(Lane::host)] = 0.875;
  return report;
}

TEST(ReportTexts, a_row_of_metrics_says) {
  StepMetrics row;
  row.step = 120;
  row.tokens = 9'000'000'000;
  row.loss = {3, 8};
  row.grad_norm = 1.5;
  row.lr = 0.03125;
  row.step_s = 6.5;
  row.tokens_per_s = 8192;
  row.mfu = 0.40625;
  row.matmul_share = 0.8125;
  row.matmul_gflops = 64.5;
  row.peak_bytes = {11, 12, 13};
  row.lanes = lanes();
  row.slow_rank = {3, 0.625};
  row.valid = {10.5, 7};
  EXPECT_EQ(to_json(row),
            R"({"step":120,"tokens":9000000000,"targets":8,"loss":0.375,"grad_norm":1.5,)"
            R"("lr":0.03125,"step_s":6.5,"tokens_per_s":8192.0,"mfu":0.40625,)"
            R"("matmul_share":0.8125,"matmul_gflops":64.5,)"
            R"("loss_hex":"0x1.8p-2","grad_norm_hex":"0x1.8p+0","spilled_bytes":5000000000,)"
            R"("reloaded_bytes":3000000000,"stall_s":0.25,"stall_by":{"h2d":0.75,"host":0.875},)"
            R"("lanes":{"compute":{"busy_s":4.0,"stall_s":0.25},)"
            R"("d2h":{"busy_s":0.0,"stall_s":0.0625,"bytes":9,"gbps":0.0},)"
            R"("nvme_read":{"busy_s":0.5,"stall_s":0.125,"bytes":3000000000,"gbps":6.0},)"
            R"("nvme_write":{"busy_s":2.0,"stall_s":0.375,"bytes":5000000000,"gbps":2.5}},)"
            R"("peak_bytes":{"device":11,"host":12,"nvme":13},)"
            R"("slow_rank":3,"slow_rank_wait_s":0.625,)"
            R"("valid_loss":1.5,"valid_loss_hex":"0x1.8p+0","valid_targets":7})");
}

TEST(ReportTexts, a_row_of_an_event_leaves_out_what_it_has_none_of) {
  EXPECT_EQ(to_json({"start", 0, {}, {}}, 1'000'000'000),
            R"({"event":"start","step":0,"time":"2001-09-09T01:46:40Z"})");
}

TEST(ReportTexts, a_row_of_a_slow_rank_has_its_number) {
  RunEvent slow{"slow-rank", 40, {{"why", "rank 3"}}};
  slow.rank = 3;
  EXPECT_EQ(to_json(slow, 0), R"({"event":"slow-rank","step":40,"time":"1970-01-01T00:00:00Z",)"
                              R"("rank":3,"why":"rank 3"})");
}

// What people name may hold any bytes; rows stay JSON all the same.
TEST(ReportTexts, of_what_is_no_utf8_have_a_sign_in_its_place) {
  EXPECT_EQ(to_json({"resume", 3, {{"from", "run\xff/step-3"}}, {"data.train a\xc3 -> b"}}, 0),
            R"({"event":"resume","step":3,"time":"1970-01-01T00:00:00Z",)"
            "\"from\":\"run\xef\xbf\xbd/step-3\",\"changed\":[\"data.train a\xef\xbf\xbd -> b\"]}");
  Summary named;
  named.job = "\xfe";
  EXPECT_NE(to_json(named).find("\"job\": \"\xef\xbf\xbd\""), std::string::npos);
}

Summary summary() {
  Summary result;
  result.plan = "plan-7.yaml";
  result.predicted_peak_bytes = {1, 2, 3};
  result.measured_peak_bytes = {4, 5, 6};
  result.outside_bytes = 7;
  result.peak_rss_bytes = 8;
  result.predicted_step_s = 0.5;
  result.measured_step_s = 0.25;
  auto const at = [](OpKind kind) { return static_cast<std::size_t>(kind); };
  result.predicted_op_s[at(OpKind::matmul)] = 2.5;
  result.measured_op_s[at(OpKind::matmul)] = 3.5;
  result.predicted_op_s[at(OpKind::rope)] = 4.5;
  result.measured_op_s[at(OpKind::adamw)] = 5.5;
  result.spill = {"posix", 21, 22, 1.25, 1.75, 30.5, 99, 40.5};
  result.lanes.use[index(Lane::host)] = {6.5, 7.5, 0};
  result.lanes.compute_stall_s[index(Lane::comm)] = 8.5;
  result.train_s = 9.5;
  result.exit = 75;
  result.outcome = {.step = 31, .tokens = 32, .parameters = 33, .trainable_parameters = 34};
  result.outcome.loss = {35.5, 36.5, 37};
  result.outcome.started = 1'000'000'000;
  result.outcome.ended = 1'000'000'060;
  result.outcome.duration_s = 60.5;
  result.outcome.restart_s = 38.5;
  result.outcome.done_again = 50;
  result.outcome.done_again_s = 51.5;
  result.outcome.evaluations = 39;
  result.outcome.saves = 40;
  result.outcome.evaluations_s = 41.5;
  result.outcome.saves_s = 42.5;
  result.times = {2, {{"attention", 43.5, 44.5, 45.5, 46.5}}, {"training", 47.5, 48.5, 49.5}};
  result.warnings = {"a thing"};
  return result;
}

constexpr auto kOutcome = R"({
  "step": 31,
  "loss": 35.5,
  "best_loss": 36.5,
  "best_loss_step": 37,
  "valid_loss": null,
  "best_valid_loss": null,
  "best_valid_step": null,
  "tokens": 32,
  "parameters": 33,
  "trainable_parameters": 34,
  "started": "2001-09-09T01:46:40Z",
  "ended": "2001-09-09T01:47:40Z",
  "duration_s": 60.5,
  "restart_s": 38.5,
  "done_again": 50,
  "done_again_s": 51.5,
  "evaluations": 39,
  "evaluations_s": 41.5,
  "saves": 40,
  "saves_s": 42.5,
)";

constexpr auto kMeasures = R"(  "plan": "plan-7.yaml",
  "predicted_peak_bytes": {
    "device": 1,
    "host": 2,
    "nvme": 3
  },
  "measured_peak_bytes": {
    "device": 4,
    "host": 5,
    "nvme": 6
  },
  "outside_bytes": 7,
  "peak_rss_bytes": 8,
  "predicted_step_s": 0.5,
  "measured_step_s": 0.25,
  "ops": {
    "matmul": {
      "predicted_s": 2.5,
      "measured_s": 3.5
    },
    "rope": {
      "predicted_s": 4.5,
      "measured_s": 0.0
    },
    "adamw": {
      "predicted_s": 0.0,
      "measured_s": 5.5
    }
  },
  "spill": {
    "backend": "posix",
    "written_bytes": 21,
    "read_bytes": 22,
    "write_gbps": 1.25,
    "read_gbps": 1.75,
    "lifetime_years": 30.5,
    "used_lifetime_years": 40.5
  },
  "stall_by": {
    "comm": 8.5
  },
  "lanes": {
    "host": {
      "busy_s": 6.5,
      "stall_s": 7.5
    }
  },
  "train_s": 9.5,
  "waits": [@],
)";

constexpr auto kTimes = R"(  "times": {
    "attention": {
      "min_s": 43.5,
      "avg_s": 44.5,
      "max_s": 45.5,
      "predicted_s": 46.5
    },
    "training": {
      "min_s": 47.5,
      "avg_s": 48.5,
      "max_s": 49.5,
      "predicted_s": null
    }
  },
  "warnings": [
    "a thing"
  ],
  "exit": 75@
})";

std::string with(std::string text, std::string const& waits, std::string const& more) {
  text.replace(text.find('@'), 1, waits);
  return text.replace(text.find('@'), 1, more);
}

TEST(ReportTexts, a_summary_says) {
  auto all = summary();
  std::string const text = std::string(kOutcome) + kMeasures + kTimes;
  EXPECT_EQ(to_json(all), with(text, "", ""));
  all.waits = {{10.5, 1, 11.5}, {}};
  all.job = "12.head.7";
  all.device_outside_bytes = 31;
  all.pinning = {32, 12.5};
  EXPECT_EQ(to_json(all), with(text,
                               R"(
    {
      "waited_s": 10.5,
      "most_for": 1,
      "for_it_s": 11.5
    },
    {
      "waited_s": 0.0,
      "most_for": -1,
      "for_it_s": 0.0
    }
  )",
                               R"(,
  "job": "12.head.7",
  "device_outside_bytes": 31,
  "pinned_bytes": 32,
  "pinning_s": 12.5)"));
}

}  // namespace
}  // namespace spillway::train_report_texts_test
