// All that `rok` says of its points, every number another one.
#include <gtest/gtest.h>

#include "rok/rok_report.hpp"

namespace spillway::train_rok_texts_test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

RokRow measured(BlockPolicy policy, std::int64_t micro) {
  RokRow row{policy, micro, 100};
  row.planned_bytes = {3 * kMiB, 4, 5};
  row.peak_bytes = {6 * kMiB, 7, 8};
  row.activation_bytes = 1536 * kMiB;
  row.predicted_step_s = 1.25;
  row.step_s = 0.75;
  row.least_step_s = 0.5;
  row.most_step_s = 2.5;
  row.spilled_bytes = 9 * kMiB;
  return row;
}

RokRow too_large() {
  RokRow row{BlockPolicy::keep, 8, 100};
  row.planned_bytes = {10 * kMiB, 11, 12};
  row.why = "needs at least device 10 MiB";
  return row;
}

TEST(RokTexts, a_line_tells_of_a_point) {
  EXPECT_EQ(rok_line(measured(BlockPolicy::light_nvme, 3)),
            "light+nvme, 3 x 100 tokens: 6 MiB on the device, 1.5 GiB of it activations and "
            "gradients; 750 ms a step, 400 tokens/s");
  EXPECT_EQ(rok_line(too_large()),
            "keep, 8 x 100 tokens: does not fit: needs at least device 10 MiB");
}

TEST(RokTexts, slow_points_have_rates_with_digits_behind_the_point) {
  auto row = measured(BlockPolicy::keep, 3);
  auto const said = [&](double step_s) {
    row.step_s = step_s;
    auto const line = rok_line(row);
    return line.substr(line.rfind("step, "));
  };
  EXPECT_EQ(said(400), "step, 0.75 tokens/s");
  EXPECT_EQ(said(7), "step, 42.9 tokens/s");
  EXPECT_EQ(said(2.7), "step, 111 tokens/s");
}

TEST(RokTexts, the_table_has_a_row_for_each) {
  std::vector<RokRow> const rows = {too_large(), measured(BlockPolicy::light_nvme, 3)};
  EXPECT_EQ(rok_table(rows),
            "policy        micro  planned     peak   activ. predicted    step  tok/s  spilled\n"
            "keep              8   10 MiB  does not fit\n"
            "light+nvme        3    3 MiB    6 MiB  1.5 GiB    1.25 s  750 ms    400    9 MiB\n");
  auto decided = measured(BlockPolicy::keep, 1);
  decided.policy.reset();
  decided.budget_bytes = 12 * kMiB;
  EXPECT_TRUE(rok_line(decided).starts_with("auto, 12 MiB, 1 x 100 tokens: "));
  EXPECT_NE(rok_table(std::vector{decided}).find("\nauto, 12 MiB      1    3 MiB "),
            std::string::npos);
}

TEST(RokTexts, the_curve_has_a_column_for_each_number) {
  std::vector<RokRow> const rows = {measured(BlockPolicy::light_nvme, 3), too_large()};
  auto const csv = rok_csv(rows);
  EXPECT_EQ(csv,
            "policy,micro,sequences,sequence_tokens,planned_peak_device_bytes,"
            "planned_peak_host_bytes,planned_peak_nvme_bytes,peak_device_bytes,peak_host_bytes,"
            "peak_nvme_bytes,activation_peak_bytes,predicted_step_s,step_s,least_step_s,"
            "most_step_s,tokens_per_s,spilled_bytes,fits\n"
            "light+nvme,3,3,100,3145728,4,5,6291456,7,8,1610612736,1.25,0.75,0.5,2.5,400,9437184,"
            "yes\n"
            "keep,8,8,100,10485760,11,12,,,,,,,,,,,no\n");
  EXPECT_TRUE(is_rok_csv(csv));
  EXPECT_FALSE(is_rok_csv("policy,micro\n"));
}

TEST(RokTexts, where_no_point_fits_the_smallest_and_a_way_out_are_named) {
  auto smaller = too_large();
  smaller.micro = 4;
  smaller.planned_bytes[index(Tier::device)] = 9 * kMiB;
  smaller.why = "needs at least device 9 MiB";
  std::vector<RokRow> const rows = {too_large(), smaller, too_large()};
  std::string const least =
      "no point fits the budgets: keep, 4 x 100 tokens, needs at least device 9 MiB";
  auto const hint = "; what is `auto` stays on the device: plan.optimizer=nvme or host needs less";
  AskedPlan asked;
  EXPECT_EQ(no_point_fits(rows, asked), least + hint);
  asked.optimizer = {Tier::device, std::nullopt, Tier::nvme};
  EXPECT_EQ(no_point_fits(rows, asked), least + hint);
  asked.optimizer = {Tier::device};
  EXPECT_EQ(no_point_fits(rows, asked), least);
}

// 6 MiB of device memory each; a sequence of those takes a third of 0.75 s, or half of 0.5 s.
TEST(RokTexts, the_chart_s_script_draws_what_was_measured) {
  std::vector<RokRow> rows = {measured(BlockPolicy::keep, 1), too_large(),
                              measured(BlockPolicy::light, 3), measured(BlockPolicy::nvme, 2)};
  rows[0].policy.reset();
  rows[0].peak_bytes[index(Tier::device)] = 1536 * kMiB;
  rows[3].step_s = 0.5;
  EXPECT_EQ(
      rok_script(rows, {"a \"model\"", "some \\ machine", "2026-01-31", 3}),
      "set terminal svg name 'spillway_rok' noenhanced size 800,560 background 'white'\n"
      "set title \"a \\\"model\\\"\\nsome \\\\ machine; 2026-01-31\\nnumbers: sequences of 100 "
      "tokens a step; bars: all of 3 steps\"\n"
      "set xlabel 'peak of device memory, GiB'\n"
      "set ylabel 'time of a sequence, s'\n"
      "set xrange [0:*]\n"
      "set yrange [0:*]\n"
      "set grid\n"
      "set key outside right top vertical\n"
      "$curve1 << end\n1.5 0.75 0.5 2.5 1\nend\n"
      "$curve2 << end\n0.00585938 0.25 0.166667 0.833333 3\nend\n"
      "$curve3 << end\n0.00585938 0.25 0.25 1.25 2\nend\n"
      "plot $curve1 using 1:2 with lines lt -1 lw 3 notitle, $curve1 using 1:2:3:4 with "
      "yerrorbars lt -1 pt 7 title 'planned by spillway', "
      "$curve1 using 1:2:5 with labels offset 0.8,0.6 tc lt -1 notitle"
      ", $curve2 using 1:2:3:4 with yerrorbars lt 2 pt 2 title 'light', "
      "$curve2 using 1:2:5 with labels offset 0.8,0.6 tc lt 2 notitle"
      ", $curve3 using 1:2:3:4 with yerrorbars lt 3 pt 3 title 'nvme', "
      "$curve3 using 1:2:5 with labels offset 0.8,0.6 tc lt 3 notitle\n");
}

TEST(RokTexts, no_other_curve_of_a_chart_has_the_planner_s_mark) {
  std::vector<RokRow> rows;
  for (auto const& row : kPolicyTable) rows.push_back(measured(row.policy, 1));
  rows.front().policy.reset();
  auto const script = rok_script(rows, {"m", "c", "d", 3});
  constexpr std::string_view mark = " pt 7 ";
  EXPECT_EQ(script.find(mark), script.rfind(mark)) << script;
  EXPECT_NE(script.find(mark), script.npos) << script;
}

// An axis from zero would squeeze points that are near each other into a corner.
TEST(RokTexts, axes_of_a_chart_begin_where_points_do_if_these_are_near_each_other) {
  std::vector<RokRow> rows = {measured(BlockPolicy::keep, 1), measured(BlockPolicy::light, 1)};
  for (RokRow& row : rows) row.least_step_s = row.most_step_s = row.step_s;
  EXPECT_NE(rok_script(rows, {}).find("set xrange [*:*]\nset yrange [*:*]\n"), std::string::npos);
  rows[0].peak_bytes[index(Tier::device)] /= 2;
  EXPECT_NE(rok_script(rows, {}).find("set xrange [0:*]\nset yrange [*:*]\n"), std::string::npos);
}

TEST(RokTexts, a_chart_is_known_by_its_title) {
  EXPECT_TRUE(is_rok_chart("<?xml version=\"1.0\"?>\n<svg>\n<title>spillway_rok</title>\n"));
  EXPECT_FALSE(is_rok_chart("<?xml version=\"1.0\"?>\n<svg>\n<title>Gnuplot</title>\n"));
  EXPECT_FALSE(is_rok_chart("<svg><title>spillway_rok</title>"));
}

}  // namespace
}  // namespace spillway::train_rok_texts_test
