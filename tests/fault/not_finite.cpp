// A loss that is not finite: stop with 7, or skip the step, as optim.non_finite says.
#include <fmt/format.h>

#include <algorithm>

#include "fault_test.hpp"

namespace spillway::test::not_finite_test {
namespace {

class NotFinite : public FaultTest {
 protected:
  void expect_to_stop(std::string const& precision, int ranks) {
    std::filesystem::remove_all(m_dir / "run");
    ASSERT_EQ(train("run.steps=1 precision=" + precision, ranks).status, 0);
    EXPECT_TRUE(fails_with(7, "not finite", train(m_ruin + precision, ranks)));
    EXPECT_EQ(read("run/latest"), "step-1\n");
  }

  // A step of this size throws the weights out of every range.
  std::string const m_ruin = "optim.lr=1000 optim.weight_decay=1000 run.steps=6 precision=";
};

TEST_F(NotFinite, the_run_stops_and_the_checkpoint_before_is_unharmed) {
  expect_to_stop("fp32", kAlone);
  expect_to_stop("bf16", kTwoRanks);
}

TEST_F(NotFinite, a_skipped_step_is_said_and_changes_nothing) {
  auto const outcome = train(m_ruin + "bf16 optim.non_finite=skip");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("spillway: warning: step 6: loss or gradient norm is not finite; "
                                "the step is skipped\n"),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(read_metrics(m_dir / "run").back()["step"], 6);
  auto const skipped = std::ranges::count_if(outcome.lines(), [](auto const& line) {
    return line.starts_with("spillway: ") && line.ends_with("; the step is skipped");
  });
  auto const checkpoint =
      run_command(spillway_command(kAlone) + " inspect " + path("run/step-6")).output;
  EXPECT_NE(checkpoint.find("\n  step        6\n"), checkpoint.npos) << checkpoint;
  EXPECT_NE(checkpoint.find(fmt::format("\n  updates     {}\n", 6 - skipped)), checkpoint.npos)
      << checkpoint;
}

TEST_F(NotFinite, ten_skipped_steps_in_a_row_end_the_run) {
  auto const outcome = train(m_ruin + "bf16 optim.non_finite=skip run.steps=40");
  EXPECT_EQ(outcome.status, 7) << outcome.output;
  std::vector<std::int64_t> skipped;
  std::string const warning = "spillway: warning: step ";
  for (auto const& line : outcome.lines())
    if (line.starts_with(warning) && line.ends_with("; the step is skipped"))
      skipped.push_back(std::stoll(line.substr(warning.size())));
  ASSERT_GE(skipped.size(), 9u) << outcome.output;
  auto const last = skipped.back();
  EXPECT_EQ(skipped[skipped.size() - 9], last - 8) << "they are neighbours";
  EXPECT_NE(outcome.output.find(fmt::format("spillway: error: step {}: not finite 10 times in a "
                                            "row; the last checkpoint is unharmed\n",
                                            last + 1)),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(read_metrics(m_dir / "run").back()["step"], last);
}

}  // namespace
}  // namespace spillway::test::not_finite_test
