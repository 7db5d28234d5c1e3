// What a run says: metrics.jsonl, summary.json and the line on the terminal.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/metrics.hpp"
#include "report/progress.hpp"
#include "report/summary.hpp"

namespace spillway::train_reports_test {
namespace {

using Json = nlohmann::json;

StepMetrics row() {
  StepMetrics result;
  result.step = 120;
  result.tokens = 9'000'000'000;
  result.loss = {896, 2688};
  result.grad_norm = 0.1;
  result.lr = 6e-4;
  result.step_s = 0.5;
  result.tokens_per_s = 8192;
  result.mfu = 0.41;
  result.matmul_share = 0.82;
  result.peak_bytes = {64 << 20, 0, 12 << 20};
  result.lanes.use[index(Lane::nvme_write)] = {2e-9, 0, 5};
  result.lanes.use[index(Lane::nvme_read)].bytes = 6;
  result.lanes.use[index(Lane::compute)].stall_s = 0.25;
  result.lanes.compute_stall_s[index(Lane::host)] = 0.125;
  return result;
}

TEST(Metrics, hold_every_promised_field) {
  auto const json = Json::parse(to_json(row()));
  EXPECT_EQ(json.at("step"), 120);
  EXPECT_EQ(json.at("tokens"), 9'000'000'000);
  EXPECT_EQ(json.at("targets"), 2688);
  EXPECT_EQ(json.at("loss"), 1.0 / 3);
  EXPECT_EQ(json.at("grad_norm"), 0.1);
  EXPECT_EQ(json.at("lr"), 6e-4);
  EXPECT_EQ(json.at("step_s"), 0.5);
  EXPECT_EQ(json.at("tokens_per_s"), 8192);
  EXPECT_EQ(json.at("mfu"), 0.41);
  EXPECT_EQ(json.at("matmul_share"), 0.82);
  EXPECT_EQ(json.at("loss_hex"), hex(1.0 / 3));
  EXPECT_EQ(json.at("grad_norm_hex"), hex(0.1));
  EXPECT_EQ(json.at("peak_bytes"), Json({{"device", 64 << 20}, {"host", 0}, {"nvme", 12 << 20}}));
  EXPECT_EQ(json.at("spilled_bytes"), 5);
  EXPECT_EQ(json.at("reloaded_bytes"), 6);
  EXPECT_EQ(json.at("stall_s"), 0.25);
  EXPECT_EQ(json.at("stall_by"), Json({{"host", 0.125}}));
  EXPECT_EQ(json.at("lanes").size(), 3u);  // that did something
  EXPECT_EQ(json.at("lanes").at("nvme_write").at("gbps"), 2.5);
}

TEST(Metrics, are_one_line_with_a_validation_loss_where_there_is_one) {
  auto with = row();
  EXPECT_FALSE(Json::parse(to_json(with)).contains("valid_loss"));
  with.valid = {20, 8};
  auto const text = to_json(with);
  EXPECT_EQ(Json::parse(text).at("valid_loss"), 2.5);
  EXPECT_EQ(Json::parse(text).at("valid_loss_hex"), hex(2.5));
  EXPECT_EQ(Json::parse(text).at("valid_targets"), 8);
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(Metrics, stay_json_where_a_number_is_not_finite) {
  auto bad = row();
  bad.loss = {std::numeric_limits<double>::quiet_NaN(), 8};
  auto const json = Json::parse(to_json(bad));
  EXPECT_TRUE(json.at("loss").is_null());
  EXPECT_TRUE(std::isnan(std::strtod(json.at("loss_hex").get<std::string>().c_str(), nullptr)));
}

TEST(Metrics, have_no_loss_where_nothing_was_to_be_predicted) {
  auto none = row();
  none.loss = {};
  none.valid = LossSums{};
  auto const json = Json::parse(to_json(none));
  for (auto const* key : {"loss", "valid_loss"}) EXPECT_TRUE(json.at(key).is_null()) << key;
  for (auto const* key : {"targets", "valid_targets"}) EXPECT_EQ(json.at(key), 0) << key;
  EXPECT_NE(progress_line(none, 600, 0.5).find("loss none  valid none  "), std::string::npos);
}

TEST(Metrics, mark_where_steps_begin) {
  RunEvent const event{"resume", 40, {{"from", "run/step-40"}}, {"optim.lr 0.001 -> 0.0005"}};
  EXPECT_EQ(to_json(event, 1'000'000'000),
            R"({"event":"resume","step":40,"time":"2001-09-09T01:46:40Z","from":"run/step-40",)"
            R"("changed":["optim.lr 0.001 -> 0.0005"]})");
}

// A job that was killed may have written a part of its last row.
TEST(Metrics, go_on_behind_the_last_whole_row) {
  auto const path = std::filesystem::path(::testing::TempDir()) / "cut-metrics.jsonl";
  for (auto const* before : {"", "a\nb\n", "a\nb\nhalf"}) {
    std::ofstream(path) << before;
    MetricsFile(path).append("c");
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    EXPECT_EQ(text.str(), *before == 0 ? "c\n" : "a\nb\nc\n") << before;
  }
  std::filesystem::remove(path);
}

TEST(Hex, comes_back_bit_by_bit) {
  using Limits = std::numeric_limits<double>;
  for (double const value :
       {0.0, -0.0, 1.0 / 3, -2.5, 5.564105471596122, Limits::min(), Limits::denorm_min(),
        Limits::max(), Limits::epsilon(), Limits::infinity()}) {
    auto const text = hex(value);
    auto const back = std::strtod(text.c_str(), nullptr);
    EXPECT_EQ(back, value) << text;
    EXPECT_EQ(std::signbit(back), std::signbit(value)) << text;
  }
}

TEST(Summary, holds_every_promised_field) {
  Summary summary;
  summary.predicted_peak_bytes = {1, 2, 3};
  summary.measured_peak_bytes = {4, 5, 6};
  summary.predicted_op_s[static_cast<std::size_t>(OpKind::matmul)] = 0.5;
  summary.exit = 75;
  auto const json = Json::parse(to_json(summary));
  EXPECT_EQ(json.at("predicted_peak_bytes"), Json({{"device", 1}, {"host", 2}, {"nvme", 3}}));
  EXPECT_EQ(json.at("measured_peak_bytes"), Json({{"device", 4}, {"host", 5}, {"nvme", 6}}));
  EXPECT_EQ(json.at("exit"), 75);
  for (auto const* key :
       {"outside_bytes", "peak_rss_bytes", "predicted_step_s", "measured_step_s"}) {
    EXPECT_TRUE(json.at(key).is_number()) << key;
  }
  EXPECT_TRUE(json.at("lanes").is_object());
  EXPECT_TRUE(json.at("stall_by").is_object());
  for (auto const* key :
       {"written_bytes", "read_bytes", "write_gbps", "read_gbps", "lifetime_years"}) {
    EXPECT_TRUE(json.at("spill").at(key).is_number()) << key;
  }
  EXPECT_TRUE(json.at("spill").at("backend").is_string());
  EXPECT_EQ(json.at("ops").size(), 1u);  // kinds that the run has
  EXPECT_EQ(json.at("ops").at("matmul").at("predicted_s"), 0.5);
}

TEST(Metrics, of_an_unknown_peak_are_null) {
  auto unknown = row();
  unknown.mfu = unknown.matmul_share = std::nullopt;
  auto const json = Json::parse(to_json(unknown));
  EXPECT_TRUE(json.at("mfu").is_null());
  EXPECT_TRUE(json.at("matmul_share").is_null());
  EXPECT_EQ(progress_line(unknown, 600, 0.5),
            "step 120/600  loss 0.3333  8192 tok/s  ETA 4m  device 64 MiB  nvme 12 MiB");
  unknown.matmul_share = 0.824;
  EXPECT_NE(progress_line(unknown, 600, 0.5).find("tok/s  82 % of matmul  ETA"), std::string::npos);
}

TEST(ProgressLine, tells_step_loss_speed_time_left_and_the_tiers_in_use) {
  EXPECT_EQ(progress_line(row(), 600, 0.5),
            "step 120/600  loss 0.3333  8192 tok/s  MFU 41 %  ETA 4m  device 64 MiB  "
            "nvme 12 MiB");
  auto with = row();
  with.valid = {3, 2};
  EXPECT_NE(progress_line(with, 600, 0.5).find("loss 0.3333  valid 1.5000  "), std::string::npos);
}

}  // namespace
}  // namespace spillway::train_reports_test
