// A loss that is not finite: stop with 7, or skip the step, as optim.non_finite says.
#include "fault_test.hpp"

namespace spillway::test {
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
  EXPECT_NE(outcome.output.find("spillway: warning: step 6: "), std::string::npos);
  EXPECT_EQ(read_metrics(m_dir / "run").back()["step"], 6);
}

}  // namespace
}  // namespace spillway::test
