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
  times.waits_s[index(Lane::nvme_read)] = 0.24;
  times.waits_s[index(Lane::compute)] = 5;  // compute does not wait for itself
  times.evaluation_s = 3;
  times.saving_s = 1.5;
  times.failed_s = 2;
  times.replanning_s = 2.5;
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
            "                                       min     avg     max  share predicted\n"
            "  matmul forward                      10.0    15.0    20.0   15 %       9.0\n"
            "  matmul backward                     20.0    30.0    40.0   30 %         -\n"
            "  attention                            4.0     4.0     4.0    4 %         -\n"
            "  other ops                            2.0     2.0     2.0    2 %         -\n"
            "  optimizer                            1.0     1.0     1.0    1 %         -\n"
            "  waiting for NVMe reads               0.2     0.2     0.2   <1 %         -\n"
            "  waiting for other ranks              4.0     6.0     8.0    6 %         -\n"
            "  evaluation                           3.0     3.0     3.0    3 %         -\n"
            "  saving                               1.5     1.5     1.5    2 %         -\n"
            "  failed steps                         2.0     2.0     2.0    2 %         -\n"
            "  re-planning                          2.5     2.5     2.5    2 %         -\n"
            "  other                               19.8    32.8    45.8   33 %         -\n"
            "  training                           100.0   100.0   100.0  100 %      90.0\n");
}

TEST(TimeTable, of_one_rank_has_one_column_of_seconds) {
  auto const text = to_text(table({rank(1)}));
  EXPECT_TRUE(
      text.starts_with("where the time of training went, in seconds\n"
                       "                                      took  share predicted\n"
                       "  matmul forward                      10.0   10 %       9.0\n"))
      << text;
  EXPECT_TRUE(text.ends_with("\n  training                           100.0  100 %      90.0\n"))
      << text;
}

// One rank talks to nobody: what it waits for is the decision that ends a step.
TEST(TimeTable, names_what_computing_waits_for) {
  auto const alone = table({rank(1)}), both = table({rank(1), rank(1)});
  EXPECT_NE(to_text(alone).find("\n  waiting for the commit "), std::string::npos);
  EXPECT_NE(to_text(both).find("\n  waiting for other ranks "), std::string::npos);
  for (auto const& made : {alone, both})
    EXPECT_EQ(std::ranges::count(made.parts, "waiting for comm", &TimeRow::part), 1);
}

TEST(TimeTable, shows_nothing_that_rounds_to_no_time_but_knows_it) {
  auto few = rank(1);
  few.waits_s[index(Lane::d2h)] = 0.04;
  auto const made = table({few, few});
  EXPECT_EQ(to_text(made).find("copies to the host"), std::string::npos);
  EXPECT_EQ(std::ranges::count(made.parts, "waiting for d2h", &TimeRow::part), 1);
  few.waits_s[index(Lane::d2h)] = 0.06;
  EXPECT_NE(to_text(table({few, few})).find("waiting for copies to the host"), std::string::npos);
}

TEST(TimeTable, has_as_many_decimals_as_the_whole_needs) {
  auto const last_line = [](double whole_s) {
    TrainingTimes times;
    times.whole_s = whole_s;
    auto text = to_text(time_table(std::vector{times}, {}));
    text.erase(0, text.find("  training") + 10);
    return text.substr(text.find_first_not_of(' '), text.find(" %") - text.find_first_not_of(' '));
  };
  EXPECT_EQ(last_line(0.0123456), "0.01235  100");
  EXPECT_EQ(last_line(4.67), "4.670  100");
  EXPECT_EQ(last_line(123456), "123456  100");
}

TEST(TrainingTimes, add_up_by_part) {
  auto sum = rank(1);
  sum += rank(2);
  EXPECT_EQ(sum.work_s, (WorkSeconds{30, 60, 8, 0, 4, 2}));
  EXPECT_EQ(sum.waits_s[index(Lane::comm)], 12);
  EXPECT_EQ(sum.evaluation_s, 6);
  EXPECT_EQ(sum.saving_s, 3);
  EXPECT_EQ(sum.failed_s, 4);
  EXPECT_EQ(sum.replanning_s, 5);
  EXPECT_EQ(sum.whole_s, 200);
  EXPECT_DOUBLE_EQ(sum.other_s(), rank(1).other_s() + rank(2).other_s());
}

}  // namespace
}  // namespace spillway::time_table_test
