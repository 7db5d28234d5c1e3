// Rows of metrics.jsonl as a page shows them, and which of many rows are shown.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "report/page/metric_rows.hpp"
#include "report/page/rok_points.hpp"
#include "report/page/thinning.hpp"
#include "rok/rok_report.hpp"

namespace spillway::page_rows_test {
namespace {

using Steps = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

MetricRows rows_of(std::string const& text) {
  std::istringstream lines(text);
  return read_metric_rows(lines);
}
std::string step(int number, double loss) {
  return R"({"step":)" + std::to_string(number) + R"(,"loss":)" + std::to_string(loss) +
         R"(,"step_s":2})" + "\n";
}
std::string event(std::string const& word, int number) {
  return R"({"event":")" + word + R"(","step":)" + std::to_string(number) +
         R"(,"time":"2026-01-31T09:05:00Z"})" + "\n";
}

TEST(Thinning, keeps_all_rows_where_there_are_few) {
  std::vector<Numbers> const columns = {{3, kNoValue, 1}};
  EXPECT_EQ(thinned(columns, 3), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(thinned(std::vector<Numbers>{Numbers{}}, 3).empty());
  EXPECT_TRUE(thinned(std::vector<Numbers>{}, 3).empty());
}

TEST(Thinning, keeps_ends_and_extremes_of_every_column_and_as_few_rows_as_asked) {
  constexpr std::size_t all = 20'000, most = 400;
  std::vector<Numbers> columns(2, Numbers(all, 1));
  columns[0][7'001] = 9;
  columns[0][7'002] = -9;
  columns[1][13'003] = 5;
  columns[1][100] = std::numeric_limits<double>::infinity();
  columns[1].back() = kNoValue;
  auto const kept = thinned(columns, most);
  EXPECT_LE(kept.size(), most + 2);
  EXPECT_TRUE(std::ranges::is_sorted(kept));
  for (std::size_t const row : {0u, 7'001u, 7'002u, 13'003u, 19'999u})
    EXPECT_TRUE(std::ranges::binary_search(kept, row)) << row;
}

TEST(PageRows, of_steps_that_were_done_again_are_the_later_ones) {
  auto const rows = rows_of(event("start", 0) + step(1, 5) + step(2, 4) + step(3, 3) +
                            event("resume", 1) + step(2, 4.5) + event("replan", 2) + step(3, 3.5));
  EXPECT_EQ(rows.steps, (Steps{1, 2, 3}));
  EXPECT_EQ(rows.of(Metric::loss), (Numbers{5, 4.5, 3.5}));
  ASSERT_EQ(rows.events.size(), 3u);
  EXPECT_FALSE(rows.events[0].contains("done_again"));
  EXPECT_EQ(rows.events[1].at("done_again"), 2);
  EXPECT_FALSE(rows.events[2].contains("done_again"));
}

// The job that resumed was killed before it came as far as the one before it.
TEST(PageRows, behind_a_resume_are_gone_even_if_nothing_came_after_it) {
  auto const rows = rows_of(step(10, 5) + step(20, 4) + event("resume", 10));
  EXPECT_EQ(rows.steps, Steps{10});
  EXPECT_EQ(rows_of(step(10, 5) + step(5, 7)).steps, Steps{5}) << "also where no row says so";
  EXPECT_EQ(rows_of(step(10, 5) + event("replan", 5)).steps, Steps{10});
}

TEST(PageRows, pass_over_what_is_no_row_and_say_how_much) {
  auto const rows = rows_of(step(1, 5) + "\n[]\n{\"step\":\"a\"}\n{\"event\":7,\"step\":1}\n" +
                            "{\"step\":2,\"loss\":null,\"step_s\":1}\n{\"step\":3,\"lo");
  EXPECT_EQ(rows.steps, (Steps{1, 2}));
  EXPECT_TRUE(std::isnan(rows.of(Metric::loss)[1]));
  EXPECT_EQ(rows.unread_rows, 4);
  EXPECT_TRUE(to_json(rows, 9).at("loss").at(1).is_null());
}

TEST(PageRows, sum_up_the_time_of_steps_that_were_not_logged) {
  auto const rows = rows_of(step(1, 5) + step(10, 4) + step(20, 3));
  EXPECT_EQ(rows.of(Metric::elapsed_s), (Numbers{2, 20, 40}));
}

TEST(PageRows, are_thinned_out_but_counted) {
  std::string text;
  for (int number = 1; number <= 5'000; ++number) text += step(number, 1.0 / number);
  auto const json = to_json(rows_of(text), 500);
  EXPECT_EQ(json.at("all"), 5'000);
  EXPECT_LE(json.at("step").size(), 510u);
  EXPECT_EQ(json.at("step").size(), json.at("grad_norm").size());
  EXPECT_EQ(json.at("step").back(), 5'000);
}

TEST(PageRows, of_a_curve_are_its_measured_points) {
  RokRow measured{.policy = BlockPolicy::light_nvme, .micro = 2, .sequence = 128};
  measured.peak_bytes[Tier::device] = 1'000;
  measured.step_s = 0.5;
  RokRow const without{.policy = BlockPolicy::keep, .why = "no room"};
  auto const points = rok_points(rok_csv(std::vector<RokRow>{measured, without}));
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].at("policy"), "light+nvme");
  EXPECT_EQ(points[0].at("micro"), 2);
  EXPECT_EQ(points[0].at("peak_device_bytes"), 1'000);
  EXPECT_EQ(points[0].at("tokens_per_s"), 512);
  EXPECT_TRUE(rok_points("").empty());
  EXPECT_TRUE(rok_points("a,b\n1,2\n").empty());
}

}  // namespace
}  // namespace spillway::page_rows_test
