#include "report/time_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

namespace spillway::time_table_test {
namespace {

TrainingTimes rank(double factor) {
  TrainingTimes times;
  times.work_s = {10 * factor, 20 * factor, 4, 0, 2, 1};
  times.waits_s[index(Lane::comm)] = 8 / factor;
  times.waits_s[index(Lane::nvme_read)] = 0.25;
  times.waits_s[index(Lane::compute)] = 5;  // compute does not wait for itself
  times.evaluation_s = 3;
  times.saving_s = 1.5;
  times.whole_s = 100;
  return times;
}

TimeTable table(std::vector<TrainingTimes> const& ranks) {
  TrainingTimes predicted;
  predicted.work_s[index(WorkPart::matmul_forward)] = 9;
  predicted.whole_s = 90;
  return time_table(ranks, predicted);
}

TEST(TimeTable, adds_up_to_the_time_of_training) {
  auto const made = table({rank(1), rank(2), rank(1.5)});
  double parts_s = 0;
  for (auto const& row : made.parts) {
    parts_s += row.avg_s;
    EXPECT_LE(row.min_s, row.avg_s) << row.part;
    EXPECT_LE(row.avg_s, row.max_s) << row.part;
  }
  EXPECT_DOUBLE_EQ(parts_s, made.whole.avg_s);
  EXPECT_DOUBLE_EQ(made.whole.avg_s, 100);
}

TEST(TimeTable, has_least_mean_and_most_over_ranks) {
  EXPECT_EQ(to_text(table({rank(1), rank(2)})),
            "where the time of training went, in seconds over 2 ranks\n"
            "                               min       avg       max         predicted\n"
            "  matmul forward                10        15        20   15 %          9\n"
            "  matmul backward               20        30        40   30 %          -\n"
            "  attention                      4         4         4    4 %          -\n"
            "  other ops                      2         2         2    2 %          -\n"
            "  optimizer                      1         1         1    1 %          -\n"
            "  waiting for nvme_read       0.25      0.25      0.25   <1 %          -\n"
            "  waiting for comm               4         6         8    6 %          -\n"
            "  evaluation                     3         3         3    3 %          -\n"
            "  saving                       1.5       1.5       1.5    2 %          -\n"
            "  other                       24.2      37.2      50.2   37 %          -\n"
            "  training                     100       100       100  100 %         90\n");
}

TEST(TimeTable, of_one_rank_has_one_column_of_seconds) {
  auto const text = to_text(table({rank(1)}));
  EXPECT_TRUE(text.starts_with("where the time of training went, in seconds\n")) << text;
  EXPECT_NE(text.find("\n  matmul forward                10   10 %          9\n"), text.npos)
      << text;
  EXPECT_NE(text.find("\n  training                     100  100 %         90\n"), text.npos)
      << text;
}

TEST(TimeTable, shows_nothing_that_took_no_time_but_knows_it) {
  auto few = rank(1);
  few.waits_s[index(Lane::d2h)] = 1e-6;
  auto const made = table({few, few});
  EXPECT_EQ(to_text(made).find("d2h"), std::string::npos);
  EXPECT_EQ(std::ranges::count(made.parts, "waiting for d2h", &TimeRow::part), 1);
}

TEST(TrainingTimes, add_up_by_part) {
  auto sum = rank(1);
  sum += rank(2);
  EXPECT_EQ(sum.work_s, (WorkSeconds{30, 60, 8, 0, 4, 2}));
  EXPECT_EQ(sum.waits_s[index(Lane::comm)], 12);
  EXPECT_EQ(sum.evaluation_s, 6);
  EXPECT_EQ(sum.saving_s, 3);
  EXPECT_EQ(sum.whole_s, 200);
  EXPECT_DOUBLE_EQ(sum.other_s(), rank(1).other_s() + rank(2).other_s());
}

}  // namespace
}  // namespace spillway::time_table_test
