// What has been compiled tells what else is worth it.
#include "plan/search/trials.hpp"

#include <gtest/gtest.h>

#include "support/gpt_graph.hpp"
#include "support/plan_words.hpp"
#include "support/small_machine.hpp"

namespace spillway::test::trials_test {
namespace {

class TrialsTest : public testing::Test {
 protected:
  // Estimated to need `off_bytes` less of the device than it does.
  Candidate candidate(std::string const& policy, double step_s, std::int64_t off_bytes = 0) {
    Candidate result;
    result.plan = make_plan(m_graph, PlanWords{.activations = {policy}}, BlockPolicy::keep);
    result.step_s = step_s;
    result.peaks = compile_without_waits(m_graph, nullptr, result.plan, 1, 1).train.peak_bytes;
    result.peaks[index(Tier::device)] -= off_bytes;
    return result;
  }
  // Its optimizer state away, too.
  Candidate with_moves(Candidate candidate) {
    for (ChunkPlan& chunk : candidate.plan.chunks) chunk.optimizer = Tier::nvme;
    return candidate;
  }

  Graph m_graph = gpt_training_graph(
      {.layers = 4, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 16, .micro = 2});
  Machine m_machine = small_machine_with_drive(1);
  Budgets m_budgets{std::int64_t{1} << 40, 0, std::int64_t{1} << 40};
  PlanQuestion m_question{m_graph, nullptr, {}, m_budgets, m_machine, 1, 1};
};

TEST_F(TrialsTest, EstimatesAreExpectedToBeOffAsOfTheNearestPlan) {
  Trials trials(m_question);
  auto const keep = candidate("keep", 1, 1000), recompute = candidate("recompute", 1, 30);
  EXPECT_EQ(trials.expected_off(keep.plan), TierBytes{});
  EXPECT_EQ(trials.try_out(keep).off[index(Tier::device)], 1000);
  EXPECT_EQ(trials.try_out(recompute).off[index(Tier::device)], 30);
  auto near_keep = keep.plan, near_recompute = recompute.plan;
  near_keep.blocks[1].policy = near_recompute.blocks[1].policy = BlockPolicy::light;
  EXPECT_EQ(trials.expected_off(near_keep)[index(Tier::device)], 1000);
  EXPECT_EQ(trials.expected_off(near_recompute)[index(Tier::device)], 30);
}

// As long by estimate is not as long in truth: only a shorter one stands for another.
TEST_F(TrialsTest, OneThatFitsStandsForLongerOnesOfTheSameActivations) {
  Trials trials(m_question);
  auto const keep = candidate("keep", 1);
  EXPECT_FALSE(trials.is_done(keep));
  EXPECT_TRUE(trials.try_out(keep).fits);
  EXPECT_TRUE(trials.is_done(keep));
  auto other = with_moves(keep);
  EXPECT_FALSE(trials.is_done(other));
  other.step_s = 1.01;
  EXPECT_TRUE(trials.is_done(other));
  EXPECT_FALSE(trials.is_done(candidate("light", 1.01)));
}

// A device with memory of its own has them there, whatever is given of the tier.
TEST_F(TrialsTest, BatchesInHostMemoryNeedNoBudgetOfIt) {
  m_machine.device_bytes = std::int64_t{1} << 40;
  Trials trials(m_question);
  auto keep = candidate("keep", 1);
  keep.plan.unified = false;
  normalise(m_graph, keep.plan);
  auto const program = compile_without_waits(m_graph, nullptr, keep.plan, 1, 1).train;
  ASSERT_GT(program.peak_bytes[Tier::host], 0);
  ASSERT_EQ(m_budgets.host_bytes, 0);
  EXPECT_TRUE(trials.try_out(keep).fits);
}

TEST_F(TrialsTest, OneThatDoesNotFitStandsForNothing) {
  m_question.budgets.device_bytes = 1;
  Trials trials(m_question);
  auto const keep = candidate("keep", 1);
  EXPECT_FALSE(trials.try_out(keep).fits);
  EXPECT_FALSE(trials.found());
  EXPECT_TRUE(trials.is_done(keep));
  auto other = with_moves(keep);
  other.step_s = 1.01;
  EXPECT_FALSE(trials.is_done(other));
}

}  // namespace
}  // namespace spillway::test::trials_test
