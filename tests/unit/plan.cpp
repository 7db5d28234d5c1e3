#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "plan/solve.hpp"
#include "support/gpt_graph.hpp"

namespace spillway::test {
namespace {

using Words = std::vector<std::string>;

Graph const& graph() {
  static Graph const graph = gpt_training_graph(
      {.layers = 4, .hidden = 256, .heads = 4, .vocab = 300, .sequence = 256, .micro = 4});
  return graph;
}

TEST(Plan, RepeatsTheLastEntryOfALists) {
  Plan const plan = make_plan(
      graph(), {.activations = {"keep", "nvme"}, .update = {"host", "device"}, .prefetch = 3},
      BlockPolicy::keep);
  std::vector<BlockPolicy> layers;
  for (std::size_t b = 0; b < graph().blocks.size(); ++b) {
    if (graph().blocks[b].layer) layers.push_back(plan.blocks[b].policy);
  }
  EXPECT_EQ(layers, (std::vector{BlockPolicy::keep, BlockPolicy::nvme, BlockPolicy::nvme,
                                 BlockPolicy::nvme}));
  EXPECT_EQ(plan.chunks[0].update, Tier::host);
  EXPECT_EQ(plan.chunks.back().update, Tier::device);
  EXPECT_EQ(plan.prefetch, 3);
}

TEST(Plan, ReadsAFractionOfRows) {
  Plan const plan = make_plan(graph(), {.activations = {"nvme:0.5"}}, BlockPolicy::keep);
  EXPECT_EQ(plan.blocks[1], (BlockPlan{BlockPolicy::nvme, 0.5}));
}

TEST(Plan, RefusesListsThatAreLongerThanTheModel) {
  auto const error_of = [](Words const& activations, Words const& update) -> std::string {
    try {
      make_plan(graph(), {.activations = activations, .update = update}, BlockPolicy::keep);
      return "no error";
    } catch (std::invalid_argument const& error) {
      return error.what();
    }
  };
  auto const chunks = graph().chunks.size();
  EXPECT_EQ(error_of(Words(4, "keep"), Words(chunks, "host")), "no error");
  EXPECT_EQ(error_of(Words(5, "keep"), {"auto"}), "plan.activations: a list of 5 for 4 layers");
  EXPECT_EQ(error_of({"keep"}, Words(chunks + 1, "host")),
            "plan.update: a list of " + std::to_string(chunks + 1) + " for " +
                std::to_string(chunks) + " chunks");
}

TEST(Plan, NamesTheWordThatIsNoPolicy) {
  for (auto const& [activations, update] : {std::pair{Words{"kep"}, Words{"device"}},
                                            {Words{"nvme:x"}, Words{"device"}},
                                            {Words{"nvme:2"}, Words{"device"}},
                                            {Words{"keep"}, Words{"disk"}},
                                            {Words{}, Words{}}}) {
    EXPECT_THROW(
        make_plan(graph(), {.activations = activations, .update = update}, BlockPolicy::keep),
        std::invalid_argument);
  }
  for (auto const policy : {BlockPolicy::keep, BlockPolicy::light_nvme}) {
    EXPECT_EQ(block_policy(name(policy)), policy);
  }
}

TEST(Plan, IsWrittenWithTheKeysOfTheInputFile) {
  auto const plan = make_plan(
      graph(), {.activations = {"keep", "nvme"}, .update = {"host", "device"}, .prefetch = 2},
      BlockPolicy::keep);
  auto const text = to_yaml(plan, graph());
  EXPECT_EQ(text.find("activations:\n  - keep        # h.0\n  - nvme        # h.1\n"), 0u) << text;
  EXPECT_NE(text.find("update:\n  - host "), std::string::npos);
  EXPECT_NE(text.find("prefetch: 2\n"), std::string::npos);
}

Solution solve_with(Budgets const& budgets, Words const& activations = {"auto"}) {
  return solve(graph(), nullptr, {.activations = activations}, budgets, {}, 1, 1);
}

TEST(Solve, TakesTheFirstOfKeepRecomputeNvmeThatFits) {
  constexpr std::int64_t plenty = std::int64_t{1} << 40;
  auto const none = solve_with({.device_bytes = 0, .nvme_bytes = plenty});
  ASSERT_EQ(none.needs.size(), 3u);
  auto const device = [&](std::size_t i) { return none.needs[i].peak_bytes[0]; };
  EXPECT_EQ(solve_with({.device_bytes = device(0), .nvme_bytes = 0}).choice->automatic,
            BlockPolicy::keep);
  EXPECT_EQ(solve_with({.device_bytes = device(0) - 1, .nvme_bytes = plenty}).choice->automatic,
            BlockPolicy::recompute);
  auto const least = std::min(device(1), device(2));
  EXPECT_TRUE(solve_with({.device_bytes = least, .nvme_bytes = plenty}).choice);
  EXPECT_FALSE(solve_with({.device_bytes = least - 1, .nvme_bytes = plenty}).choice);
}

TEST(Solve, NamesTheSmallestNeedWhenNothingFits) {
  auto const solution = solve_with({.device_bytes = 1 << 20, .nvme_bytes = 0});
  EXPECT_FALSE(solution.choice);
  ASSERT_EQ(solution.needs.size(), 2u);  // nvme is not tried without an NVMe tier
  for (Need const& need : solution.needs) {
    EXPECT_EQ(need.peak_bytes[2], 0);
    EXPECT_LE(solution.smallest.peak_bytes[0], need.peak_bytes[0]);
  }
  EXPECT_EQ(solution.smallest.automatic, BlockPolicy::recompute);
  EXPECT_NE(describe(solution.smallest).find("MiB (activations: recompute)"), std::string::npos);
}

TEST(Solve, ProvesItsChoice) {
  auto const solution = solve_with({std::int64_t{1} << 40, 0});
  ASSERT_TRUE(solution.choice);
  EXPECT_EQ(verify(solution.choice->compiled.train), std::nullopt);
}

TEST(Solve, LeavesAForcedPlanAlone) {
  auto const solution = solve_with({std::int64_t{1} << 40, 0}, {"nvme"});
  EXPECT_FALSE(solution.choice);  // no NVMe budget
  ASSERT_EQ(solution.needs.size(), 1u);
  EXPECT_GT(solution.smallest.peak_bytes[2], 0);
}

TEST(Solve, PrefetchesAsFarAsTheLinksAskFor) {
  Machine slow{.matmul_gflops_bf16 = 100, .memory_gbps = 20, .nvme_write_gbps = 100};
  auto const distance = [&](double read_gbps, std::optional<int> forced = {}) {
    slow.nvme_read_gbps = read_gbps;
    PlanRequest const request{.activations = {"nvme"}, .prefetch = forced};
    Budgets const plenty{std::int64_t{1} << 40, 0, std::int64_t{1} << 40};
    return solve(graph(), nullptr, request, plenty, slow, 1, 1).choice->plan.prefetch;
  };
  EXPECT_EQ(distance(1000), 1);
  EXPECT_GT(distance(0.1), 1);
  EXPECT_EQ(distance(0.1, 1), 1);
}

}  // namespace
}  // namespace spillway::test
