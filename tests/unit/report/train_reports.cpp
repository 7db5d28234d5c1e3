// What a run says: metrics.jsonl, summary.json and the line on the terminal.
#include <gtest/gtest.h>
#include <sys/stat.h>

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
#include "tests/support/captured_log.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"

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
  EXPECT_NE(progress_line(none, 600, 240).find("  loss none  "), std::string::npos);
  EXPECT_EQ(valid_line(none), "valid none at step 120");
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

std::string text_of(std::filesystem::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The partial row begins in one part that is read, and the row before it ends in another.
TEST(Metrics, lose_a_partial_row_of_any_length) {
  test::CapturedLog log;
  auto const path = std::filesystem::path(::testing::TempDir()) / "long-cut-metrics.jsonl";
  for (std::size_t const size : {4095u, 4096u, 4097u, 9000u}) {
    std::ofstream(path) << "a\n" << std::string(size, 'x');
    MetricsFile(path).append("c");
    EXPECT_EQ(text_of(path), "a\nc\n") << size;
    EXPECT_EQ(log.taken(),
              "info: " + path.string() + ": its last row was cut short, and is removed\n");
    std::ofstream(path) << std::string(size, 'x');
    MetricsFile(path).append("c");
    EXPECT_EQ(text_of(path), "c\n") << size << ", and no row before it";
    log.taken();
  }
  std::filesystem::remove(path);
}

TEST(Metrics, are_written_to_files_alone) {
  auto const path = std::filesystem::path(::testing::TempDir()) / "no-metrics.jsonl";
  std::filesystem::remove_all(path);
  auto const refused = [&] { return test::refused_with([&] { MetricsFile const file(path); }); };
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(refused(), path.string() + ": is not a regular file");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(refused(), path.string() + ": cannot be written: Is a directory");
  std::filesystem::remove(path);
}

TEST(Metrics, are_lost_while_their_directory_is_and_go_on_where_it_comes_back) {
  test::CapturedLog log;
  auto const directory = std::filesystem::path(::testing::TempDir()) / "lost-metrics";
  auto const path = directory / "metrics.jsonl";
  std::filesystem::create_directories(directory);
  MetricsFile file(path);
  file.append("a");
  EXPECT_EQ(log.taken(), "");
  std::filesystem::remove_all(directory);
  file.append("b");
  file.append("c");
  EXPECT_EQ(log.taken(),
            "warning: metrics.jsonl cannot be written (No such file or directory); training goes "
            "on without it, and each row is tried\n");
  std::filesystem::create_directories(directory);
  file.append("d");
  EXPECT_EQ(log.taken(),
            "warning: metrics.jsonl was removed or replaced; the rows from here on are in a new "
            "one\nwarning: metrics.jsonl can be written again; 2 rows are missing\n");
  file.append("e");
  EXPECT_EQ(text_of(path), "d\ne\n");
  EXPECT_EQ(log.taken(), "");
  std::filesystem::remove_all(directory);
}

// The system writes as much of a row as the file may have; the row is taken away.
TEST(Metrics, have_a_row_whole_or_not_at_all_where_there_is_room_for_a_part) {
  test::CapturedLog log;
  auto const path = std::filesystem::path(::testing::TempDir()) / "full-metrics.jsonl";
  std::filesystem::remove(path);
  {
    MetricsFile file(path);
    file.append("first");
    test::FileSizeLimit const limit(10);
    file.append("second");
    EXPECT_EQ(text_of(path), "first\n");
    file.append("3rd");  // fits: 10 bytes
    EXPECT_EQ(text_of(path), "first\n3rd\n");
    file.append("4");
    file.append("5");
  }
  EXPECT_EQ(text_of(path), "first\n3rd\n");
  auto const cannot = std::string(
      "warning: metrics.jsonl cannot be written (File too large); training goes on without it, and "
      "each row is tried\n");
  EXPECT_EQ(log.taken(), cannot +
                             "warning: metrics.jsonl can be written again; 1 rows are missing\n" +
                             cannot + "warning: metrics.jsonl: the last 2 rows are missing\n");
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
  for (auto const* key : {"written_bytes", "read_bytes", "write_gbps", "read_gbps",
                          "lifetime_years", "used_lifetime_years"}) {
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
  EXPECT_EQ(progress_line(unknown, 600, 240),
            "step 120/600  loss 0.3333  lr 6.00e-04  norm 0.1    8192 tok/s  ETA 4m");
}

TEST(ProgressLine, tells_step_loss_rate_norm_speed_and_time_left) {
  EXPECT_EQ(progress_line(row(), 600, 240),
            "step 120/600  loss 0.3333  norm 0.1    8192 tok/s  MFU 41 %  ETA 4m");
}

// What is left out first is what is least often looked at.
TEST(ProgressLine, is_never_wider_than_a_page) {
  auto long_run = row();
  long_run.step = 9'000'000;
  EXPECT_EQ(progress_line(long_run, 9'000'000, 240),
            "step 9000000/9000000  loss 0.3333  norm 0.1    8192 tok/s  MFU 41 %  ETA 4m");
  long_run.tokens_per_s = 123'456'789;
  long_run.loss = {3e6, 2};
  EXPECT_EQ(progress_line(long_run, 9'000'000, 240),
            "step 9000000/9000000  loss 1500000.0000  norm 0.1    123456789 tok/s  ETA 4m");
}

// Lines of one run stand below each other in columns.
TEST(ProgressLine, has_its_fields_where_the_line_before_has_them) {
  for (auto const mfu : {std::optional(0.41), std::optional<double>()}) {
    auto row_120 = row(), row_7 = row();
    row_120.mfu = row_7.mfu = mfu;
    row_7.step = 7;
    row_7.lr = 1.5e-3;
    row_7.grad_norm = 0.601;
    auto const first = progress_line(row_120, 600, 240), second = progress_line(row_7, 600, 3.97);
    for (auto const* label : {"loss", "lr", "norm", "tok/s", "MFU", "ETA"})
      EXPECT_EQ(first.find(label), second.find(label)) << first << "\n" << second;
  }
}

TEST(ValidLine, tells_of_an_evaluation) {
  EXPECT_EQ(valid_line(row()), "");
  auto with = row();
  with.valid = {3, 2};
  EXPECT_EQ(valid_line(with), "valid 1.5000 at step 120");
}

}  // namespace
}  // namespace spillway::train_reports_test
