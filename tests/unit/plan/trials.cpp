// What has been compiled tells what else is worth it.
#include "plan/search/trials.hpp"

#include <gtest/gtest.h>

#include "plan/time/simulate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/small_machine.hpp"

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
  // Estimated without a mistake.
  Candidate candidate_of(PlanWords const& words) {
    Candidate result;
    result.plan = make_plan(m_graph, words, BlockPolicy::keep);
    result.step_s = 1;
    result.peaks = compile_without_waits(m_graph, nullptr, result.plan, 1, 1).train.peak_bytes;
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

TEST_F(TrialsTest, estimates_are_expected_to_be_off_as_of_the_nearest_plan) {
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

// Items of all members count in each of up to three segments, those of the update once.
TEST_F(TrialsTest, as_many_micro_batches_walk_together_as_items_allow) {
  m_question.micro_batches = 16;
  Trials trials(m_question);
  auto const keep = candidate("keep", 1);
  ASSERT_TRUE(trials.try_out(keep).fits);
  auto const program = compile_without_waits(m_graph, nullptr, keep.plan, 16, 1).train;
  ASSERT_EQ(program.segments.size(), 4u);
  auto const items = [&](int segment) {
    return program.segments[segment].last - program.segments[segment].first;
  };
  EXPECT_EQ(trials.most_group(items(3) + 16 * items(2)), 16);
  EXPECT_EQ(trials.most_group(items(3) + 15 * items(2)), 5);
}

// As long by estimate is not as long in truth: only a shorter one stands for another.
TEST_F(TrialsTest, one_that_fits_stands_for_longer_ones_of_the_same_activations) {
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

TEST_F(TrialsTest, four_with_equal_estimates_stand_for_a_fifth_of_many_blocks) {
  auto const graph = gpt_training_graph(
      {.layers = 12, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 16, .micro = 2});
  PlanQuestion const question{graph, nullptr, {}, m_budgets, m_machine, 1, 1};
  Trials trials(question);
  Candidate other;
  other.plan = make_plan(graph, PlanWords{}, BlockPolicy::keep);
  other.step_s = 1;
  for (int prefetch : {1, 2, 3, 4}) {
    other.plan.prefetch = prefetch;
    EXPECT_FALSE(trials.is_done(other)) << prefetch;
    EXPECT_TRUE(trials.try_out(other).fits) << prefetch;
  }
  other.plan.prefetch = 5;
  EXPECT_TRUE(trials.is_done(other));
  other.step_s = 0.99;
  EXPECT_FALSE(trials.is_done(other));
}

// A device with memory of its own has them there, whatever is given of the tier.
TEST_F(TrialsTest, batches_in_host_memory_need_no_budget_of_it) {
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

TEST_F(TrialsTest, one_that_does_not_fit_stands_for_nothing) {
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

// Chunks and prefetch count as blocks do.
TEST_F(TrialsTest, the_nearest_plan_differs_in_the_fewest_chunks_and_prefetches) {
  Trials trials(m_question);
  auto const keep = candidate("keep", 1, 1000);
  auto away = candidate_of({.activations = {"keep"}, .optimizer = {"nvme"}});
  away.peaks[Tier::device] -= 30;
  auto far = candidate_of({.activations = {"keep"}, .prefetch = 4});
  far.peaks[Tier::device] -= 7;
  trials.try_out(keep);
  trials.try_out(away);
  trials.try_out(far);
  auto near_away = away.plan, near_keep = keep.plan, near_far = far.plan;
  near_away.chunks[0] = {};
  near_keep.chunks[0] = away.plan.chunks[0];
  near_far.blocks[1].policy = BlockPolicy::light;
  EXPECT_EQ(trials.expected_off(near_away)[Tier::device], 30);
  EXPECT_EQ(trials.expected_off(near_keep)[Tier::device], 1000);
  EXPECT_EQ(trials.expected_off(near_far)[Tier::device], 7);
}

TEST_F(TrialsTest, the_plan_that_is_fastest_leads_and_is_chosen) {
  Trials trials(m_question);
  auto const again = candidate("recompute", 1), keep = candidate("keep", 1);
  EXPECT_TRUE(trials.try_out(again).leads);
  EXPECT_TRUE(trials.try_out(keep).leads);
  EXPECT_FALSE(trials.try_out(again).leads);
  auto const solution = trials.finish();
  ASSERT_TRUE(solution.chosen);
  EXPECT_EQ(solution.chosen->plan, keep.plan);
  EXPECT_EQ(solution.chosen->step_s, simulated_step_s(m_question, keep.plan));
  EXPECT_EQ(solution.compiled, 3);
}

// The drive is so fast that what goes there and back costs no time.
TEST_F(TrialsTest, of_plans_that_take_alike_the_one_that_moves_fewer_bytes_is_chosen) {
  m_machine = {.matmul_gflops_bf16 = 100,
               .matmul_gflops_f32 = 50,
               .memory_gbps = 20,
               .nvme_write_gbps = 1e6,
               .nvme_read_gbps = 1e6};
  auto const keep = candidate("keep", 1), spilled = candidate("nvme", 1);
  ASSERT_GT(spilled.peaks[Tier::nvme], 0);
  for (bool const turned : {false, true}) {
    Trials trials(m_question);
    trials.try_out(turned ? spilled : keep);
    trials.try_out(turned ? keep : spilled);
    auto const solution = trials.finish();
    ASSERT_TRUE(solution.chosen);
    EXPECT_EQ(solution.chosen->plan, keep.plan);
  }
}

// Both leave the device at no cost; on the host more bytes do.
TEST_F(TrialsTest, of_plans_that_take_alike_the_one_that_writes_less_to_the_drive_is_chosen) {
  m_machine = {.matmul_gflops_bf16 = 100,
               .matmul_gflops_f32 = 50,
               .memory_gbps = 20,
               .nvme_write_gbps = 1e6,
               .nvme_read_gbps = 1e6,
               .h2d_gbps = 1e6,
               .d2h_gbps = 1e6};
  m_budgets.host_bytes = std::int64_t{1} << 40;
  PlanQuestion const question{m_graph, nullptr, {}, m_budgets, m_machine, 1, 1};
  auto const on_host = candidate("host", 1);
  auto const on_drive = candidate_of({.activations = {"nvme", "keep", "keep", "keep"}});
  for (bool const turned : {false, true}) {
    Trials trials(question);
    trials.try_out(turned ? on_drive : on_host);
    trials.try_out(turned ? on_host : on_drive);
    auto const solution = trials.finish();
    ASSERT_TRUE(solution.chosen);
    EXPECT_EQ(solution.chosen->plan, on_host.plan);
  }
}

// By estimate the one that was tried takes 100 s, which is far longer than it does.
TEST_F(TrialsTest, a_plan_is_hopeless_if_its_estimate_is_longer_by_three_per_cent) {
  Trials trials(m_question);
  EXPECT_FALSE(trials.is_hopeless(candidate("light", 1e9))) << "nothing fits yet";
  trials.try_out(candidate("keep", 100));
  EXPECT_FALSE(trials.is_hopeless(candidate("light", 102.9)));
  EXPECT_TRUE(trials.is_hopeless(candidate("light", 103.1)));
}

TEST_F(TrialsTest, a_plan_is_not_hopeless_for_an_estimate_that_was_too_short) {
  Trials trials(m_question);
  auto const keep = candidate("keep", 1e-12);
  trials.try_out(keep);
  auto const step_s = simulated_step_s(m_question, keep.plan);
  EXPECT_FALSE(trials.is_hopeless(candidate("light", 1.02 * step_s)));
  EXPECT_TRUE(trials.is_hopeless(candidate("light", 1.04 * step_s)));
}

TEST_F(TrialsTest, the_smallest_need_is_that_of_the_plan_that_lacks_the_fewest_bytes) {
  m_graph = gpt_training_graph(  // in which activations take most of the bytes
      {.layers = 4, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 256, .micro = 4});
  m_question.budgets.device_bytes = 1;
  auto const keep = candidate("keep", 1), again = candidate("recompute", 1);
  ASSERT_LT(again.peaks[Tier::device], keep.peaks[Tier::device]);
  for (bool const turned : {false, true}) {
    Trials trials(m_question);
    trials.try_out(turned ? again : keep);
    trials.try_out(turned ? keep : again);
    auto const solution = trials.finish();
    EXPECT_FALSE(solution.chosen);
    EXPECT_EQ(solution.smallest.plan, again.plan);
    EXPECT_EQ(solution.smallest.peak_bytes, again.peaks);
    EXPECT_EQ(solution.smallest.nvme_bytes_per_s, 0);
    EXPECT_EQ(solution.compiled, 2);
  }
}

// A drive that may be written to as fast as a step does, and a little more slowly.
TEST_F(TrialsTest, a_plan_may_write_to_the_drive_at_the_rate_of_the_budget) {
  auto const away = candidate_of({.activations = {"keep"}, .optimizer = {"nvme"}});
  auto const simulation = simulate(compile(m_graph, nullptr, away.plan, 1, 1).train, m_machine);
  auto const written = static_cast<double>(simulation.bytes[Lane::nvme_write]);
  ASSERT_GT(written, 0);
  auto const rate = written / simulation.step_s;
  m_question.budgets.nvme_bytes_per_s = rate;
  Trials may(m_question);
  EXPECT_TRUE(may.try_out(away).leads);
  EXPECT_TRUE(may.found());
  m_question.budgets.nvme_bytes_per_s = 0.999 * rate;
  Trials may_not(m_question);
  EXPECT_FALSE(may_not.try_out(away).leads);
  EXPECT_FALSE(may_not.found());
  auto const smallest = may_not.finish().smallest;
  EXPECT_EQ(smallest.plan, away.plan);
  EXPECT_DOUBLE_EQ(smallest.nvme_bytes_per_s, rate);
}

// Memory can be given; what wears the drive too fast comes last.
TEST_F(TrialsTest, the_smallest_need_is_of_bytes_before_it_is_of_writes) {
  m_question.budgets.nvme_bytes_per_s = 1;
  auto const on_drive = candidate_of({.activations = {"keep"}, .optimizer = {"nvme"}});
  auto const on_host = candidate_of({.activations = {"keep"}, .optimizer = {"host"}});
  for (bool const turned : {false, true}) {
    Trials trials(m_question);
    trials.try_out(turned ? on_host : on_drive);
    trials.try_out(turned ? on_drive : on_host);
    auto const solution = trials.finish();
    EXPECT_FALSE(solution.chosen);
    EXPECT_EQ(solution.smallest.plan, on_host.plan);
    EXPECT_EQ(solution.smallest.nvme_bytes_per_s, 0);
    EXPECT_GT(solution.smallest.peak_bytes[Tier::host], 0);
  }
}

}  // namespace
}  // namespace spillway::test::trials_test
