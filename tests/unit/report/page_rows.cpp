// Rows of metrics.jsonl as a page shows them, and which of many rows are shown.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "report/page/rok_points.hpp"
#include "report/page/rows_json.hpp"
#include "report/page/thinning.hpp"
#include "rok/rok_report.hpp"

namespace spillway::page_rows_test {
namespace {

using Steps = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

// Rows of steps of two seconds.
MetricRows rows_of(Steps const& steps) {
  MetricRows rows;
  for (auto const step : steps) {
    MetricValues values;
    values.fill(kNoValue);
    values[static_cast<std::size_t>(Metric::loss)] = 1.0 / static_cast<double>(step);
    values[static_cast<std::size_t>(Metric::step_s)] = 2;
    rows.add(step, values);
  }
  return rows;
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

TEST(PageRows, sum_up_the_time_of_steps_that_were_not_logged) {
  EXPECT_EQ(elapsed_s(rows_of({1, 10, 20})), (Numbers{2, 20, 40}));
  EXPECT_EQ(rows_json(rows_of({1, 10}), 9).at("elapsed_s"), (PageJson{2, 20}));
}

TEST(PageRows, have_null_for_what_is_not_known) {
  auto const json = rows_json(rows_of({4}), 9);
  EXPECT_EQ(json.at("loss").at(0), 0.25);
  EXPECT_TRUE(json.at("valid_loss").at(0).is_null());
}

TEST(PageRows, are_thinned_out_but_counted) {
  Steps steps(5'000);
  std::iota(steps.begin(), steps.end(), 1);
  auto const json = rows_json(rows_of(steps), 500);
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
