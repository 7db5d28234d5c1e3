// Random steps from plan to plan, and walks of them.
#include "plan/search/late_acceptance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/compile/compile.hpp"
#include "plan/search/block_model.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::late_acceptance_test {
namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 40, kMicroBatches = 4, kRanks = 2;

class LateAcceptanceTest : public testing::Test {
 protected:
  PlanQuestion question(PlanWords const& words,
                        Budgets const& budgets = {kPlenty, kPlenty, kPlenty}) const {
    return {m_graph, nullptr, words, budgets, m_machine, kMicroBatches, kRanks};
  }
  OpenPlan open(PlanWords const& words) const { return open_plan(m_graph, words, false); }

  Graph m_graph = gpt_training_graph(
      {.layers = 3, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 64, .micro = 2});
  Machine m_machine = small_machine_with_drive(1);
};

TEST_F(LateAcceptanceTest, steps_lead_everywhere_and_to_plans_that_can_be_compiled) {
  PlanWords const words{.norm_is_awaited = false};
  auto const asked = question(words);
  auto const all = open(words);
  RandomSteps steps(asked, all), same(asked, all);
  auto plan = all.plan;
  plan.chunks[0].shard = Shard::gradients;
  std::set<std::string> seen;
  for (int i = 0; i < 3000; ++i) {
    auto const next = steps.from(plan);
    ASSERT_EQ(next, same.from(plan)) << "the same calls return the same plans";
    plan = next;
    ASSERT_TRUE(is_normal(m_graph, plan)) << i;
    for (BlockPlan const& block : plan.blocks) seen.insert(std::string(name(block.policy)));
    for (ChunkPlan const& chunk : plan.chunks) {
      seen.insert("parameters " + std::string(name(chunk.parameters)));
      seen.insert("optimizer " + std::string(name(chunk.optimizer)));
      seen.insert("gradients " + std::string(name(chunk.gradients)));
      seen.insert("update " + std::string(name(chunk.update)));
    }
    seen.insert(plan.exchanges_overlap ? "overlap" : "in turn");
    seen.insert("group " + std::to_string(plan.group));
    seen.insert("early " + std::to_string(plan.early));
    if (i % 20 == 0) compile(m_graph, nullptr, plan, kMicroBatches, kRanks);
  }
  for (char const* thing :
       {"keep", "light", "recompute", "host", "nvme", "parameters nvme", "optimizer nvme",
        "gradients host", "update host", "in turn", "group 4", "early 35"})
    EXPECT_TRUE(seen.contains(thing)) << thing;
  EXPECT_FALSE(seen.contains("gradients nvme"));
}

TEST_F(LateAcceptanceTest, steps_leave_alone_what_the_user_has_decided) {
  PlanWords const words{.activations = {"recompute"},
                        .parameters = {"host"},
                        .gradients = {"device"},
                        .optimizer = {"host"},
                        .update = {"device"},
                        .shard = {"none"},
                        .prefetch = 1,
                        .group = 1};
  auto const asked = question(words);
  auto const all = open(words);
  RandomSteps steps(asked, all);
  auto plan = all.plan;
  for (int i = 0; i < 300; ++i) plan = steps.from(plan);
  plan.exchanges_overlap = all.plan.exchanges_overlap;
  EXPECT_EQ(plan, all.plan);
}

// From a plan that has everything away, a walk comes to others that fit and are faster.
TEST_F(LateAcceptanceTest, a_walk_finds_faster_plans_that_fit) {
  PlanWords const all_away{.activations = {"recompute"},
                           .parameters = {"host"},
                           .gradients = {"host"},
                           .optimizer = {"host"},
                           .update = {"host"},
                           .shard = {"gradients"},
                           .prefetch = 1,
                           .group = 1};
  Candidate start;
  start.plan = make_plan(m_graph, all_away, BlockPolicy::keep);
  start.plan.unified = false;
  start.peaks =
      compile_without_waits(m_graph, nullptr, start.plan, kMicroBatches, kRanks).train.peak_bytes;
  auto const half_more = [&](Tier tier) { return start.peaks[tier] + start.peaks[tier] / 2; };
  Budgets const budgets{half_more(Tier::device), half_more(Tier::host), 0};
  auto const asked = question({}, budgets);
  auto all = open({});
  auto const model = block_model(m_graph, m_machine, policies_within(all, budgets), kRanks,
                                 {sharers_of(all.plan, kRanks)});
  Estimator const estimator(model, m_machine, kMicroBatches);
  take_time(start, estimator);
  auto const walked_s = [&] {
    Trials trials(asked);
    EXPECT_TRUE(trials.try_out(start).fits);
    auto const before_s = trials.best_s();
    LateAcceptance walks(asked, all, estimator, trials);
    walks.run({});
    EXPECT_GT(walks.estimated(), 1000);
    EXPECT_LT(trials.best_s(), 0.9 * before_s);
    EXPECT_TRUE(fits(trials.peaks_of_best(), budgets));
    return trials.best_s();
  };
  EXPECT_EQ(walked_s(), walked_s());
}

// A walk has 1,500 steps where estimates are fast.
TEST_F(LateAcceptanceTest, a_walk_ends_when_its_estimates_have_told_much) {
  constexpr std::int64_t micro_batches = 24;
  m_graph = gpt_training_graph(
      {.layers = 28, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 64, .micro = 2});
  PlanQuestion const asked{m_graph,       nullptr, PlanWords{}, {kPlenty, kPlenty, 0}, m_machine,
                           micro_batches, 1};
  auto const all = open({});
  auto const model = block_model(m_graph, m_machine, policies_within(all, asked.budgets), 1,
                                 {sharers_of(all.plan, 1)});
  Estimator const estimator(model, m_machine, micro_batches);
  Candidate start;
  start.plan = make_plan(m_graph, PlanWords{.optimizer = {"host"}, .group = 8}, BlockPolicy::keep);
  start.plan.unified = false;
  start.peaks = estimator.peaks(start.plan);
  take_time(start, estimator);
  Trials trials(asked);
  trials.try_out(start);
  ASSERT_TRUE(trials.found());
  LateAcceptance walks(asked, all, estimator, trials);
  walks.run({});
  EXPECT_GT(walks.estimated(), 20);
  EXPECT_LT(walks.estimated(), 1500);
}

}  // namespace
}  // namespace spillway::test::late_acceptance_test
