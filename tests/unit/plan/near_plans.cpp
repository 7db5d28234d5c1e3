// Where searches begin, and which plans are near a plan.
#include "plan/search/near_plans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/compile/compile.hpp"
#include "plan/search/starts.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::near_plans_test {
namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 40, kMicroBatches = 4, kRanks = 2;

class NearPlans : public testing::Test {
 protected:
  PlanQuestion question(PlanWords const& words = {}, std::int64_t ranks = kRanks) const {
    return {m_graph, nullptr, words, {kPlenty, kPlenty, kPlenty}, m_machine, kMicroBatches, ranks};
  }
  OpenPlan open(PlanWords const& words = {}) const { return open_plan(m_graph, words, false); }

  std::vector<Plan> around(Plan const& plan, PlanWords const& words = {}) const {
    auto const asked = question(words);
    auto const all = open(words);
    return spillway::NearPlans(asked, all).around(plan);
  }

  Graph m_graph = gpt_training_graph(
      {.layers = 3, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 64, .micro = 2});
  Machine m_machine = small_machine_with_drive(1);
};

int layers_that_differ(Plan const& a, Plan const& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.blocks.size(); ++i) count += a.blocks[i] == b.blocks[i] ? 0 : 1;
  return count;
}
int chunks_that_differ(Plan const& a, Plan const& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.chunks.size(); ++i) count += a.chunks[i] == b.chunks[i] ? 0 : 1;
  return count;
}

TEST_F(NearPlans, differ_in_one_thing_and_all_can_be_compiled) {
  auto const plan = open(PlanWords{.norm_is_awaited = false}).plan;
  auto const near = around(plan, PlanWords{.norm_is_awaited = false});
  ASSERT_GT(near.size(), 80u);
  std::set<std::uint64_t> hashes = {hash_of(plan)};
  for (Plan const& other : near) {
    EXPECT_TRUE(hashes.insert(hash_of(other)).second) << "twice, or the plan itself";
    EXPECT_TRUE(is_normal(m_graph, other));
    EXPECT_TRUE(layers_that_differ(plan, other) == 0 || chunks_that_differ(plan, other) == 0);
    EXPECT_LE(layers_that_differ(plan, other), 2);
    EXPECT_NO_THROW(compile(m_graph, nullptr, other, kMicroBatches, kRanks));
  }
}

TEST_F(NearPlans, reach_what_strategies_cannot_say) {
  auto const plan = open().plan;
  auto const near = around(plan);
  auto const has = [&](auto const& is_it) { return std::ranges::any_of(near, is_it); };
  EXPECT_TRUE(has([&](Plan const& it) {
    return chunks_that_differ(plan, it) == 1 && it.chunks[2].optimizer == Tier::nvme &&
           it.chunks[2].update == Tier::host && it.chunks[2].gradients == Tier::device;
  })) << "a chunk in the middle";
  EXPECT_TRUE(has([](Plan const& it) { return !it.exchanges_overlap; }));
  EXPECT_TRUE(has([](Plan const& it) { return it.group == 2; }));
}

TEST_F(NearPlans, leave_alone_what_the_user_has_decided) {
  PlanWords const words{.activations = {"recompute"},
                        .parameters = {"host"},
                        .gradients = {"device"},
                        .optimizer = {"host"},
                        .update = {"device"},
                        .shard = {"none"},
                        .prefetch = 1,
                        .group = 1};
  auto const near = around(open(words).plan, words);
  ASSERT_EQ(near.size(), 1u);
  EXPECT_FALSE(near.front().exchanges_overlap);
  auto only_parameters = words;
  only_parameters.parameters = {"auto", "host"};
  for (Plan const& other : around(open(only_parameters).plan, only_parameters))
    EXPECT_LE(chunks_that_differ(other, open(only_parameters).plan), 1);
}

TEST_F(NearPlans, optimizer_state_on_the_device_is_updated_there) {
  auto const plan = open(PlanWords{.optimizer = {"host"}, .update = {"auto"}}).plan;
  for (Plan const& other : around(plan)) {
    for (ChunkPlan const& chunk : other.chunks)
      EXPECT_TRUE(chunk.optimizer != Tier::device || chunk.update == Tier::device);
  }
}

TEST_F(NearPlans, searches_begin_with_each_open_key_decided) {
  auto const all = with_one_key_decided(question());
  auto const count = [&](auto const& is_it) { return std::ranges::count_if(all, is_it); };
  EXPECT_EQ(count([](PlanRequest const& it) { return it.parameters.front().has_value(); }), 3);
  EXPECT_EQ(count([](PlanRequest const& it) { return it.gradients.front().has_value(); }), 2);
  EXPECT_EQ(count([](PlanRequest const& it) { return it.group.has_value(); }), 3);
  EXPECT_EQ(count([](PlanRequest const& it) { return it.shard.front().has_value(); }), 4);
  auto const alone = with_one_key_decided(question({}, 1));
  EXPECT_EQ(alone.size() + 4, all.size()) << "one rank has nobody to share with";
  PlanWords const decided{.parameters = {"device"}, .prefetch = 2};
  EXPECT_EQ(with_one_key_decided(question(decided)).size() + 5, all.size());
}

}  // namespace
}  // namespace spillway::test::near_plans_test
