// What the rates of a drive, and how fast it may be worn, decide.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "plan/search/search.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/unit/plan/solve_case.hpp"

namespace spillway::test::solve_drive_test {
namespace {

using solve_case::graph, solve_case::kPlenty, solve_case::machine, solve_case::most_of_it_bytes,
    solve_case::solve_with;

// A wide drive hides what is spilled; with none to speak of activations are made again.
TEST(Solve, spills_what_the_drive_hides_behind_compute) {
  auto const budget = most_of_it_bytes();
  auto const with_drive = [&](double gbps) {
    auto drive = machine();
    drive.nvme_write_gbps = drive.nvme_read_gbps = drive.nvme_both_gbps = gbps;
    PlanWords request;
    request.optimizer = {"device"};
    return solve({graph(), nullptr, request, {budget, 0, kPlenty}, drive, 1, 1});
  };
  auto const layers = [&](double gbps, auto const& is) {
    return std::ranges::count_if(with_drive(gbps).chosen->plan.blocks, is);
  };
  auto const spills = [](BlockPlan const& b) { return away_tier(b.policy).has_value(); };
  auto const repeats = [](BlockPlan const& b) {
    return b.policy == BlockPolicy::recompute || b.policy == BlockPolicy::light;
  };
  EXPECT_EQ(layers(0.001, spills), 0);
  EXPECT_GT(layers(0.001, repeats), 0);
  EXPECT_GT(layers(1000, spills), 0);
  auto const keep_s = solve_with({kPlenty, 0, 0}).chosen->step_s;
  EXPECT_LE(with_drive(1000).chosen->step_s, 1.01 * keep_s);
  EXPECT_GT(with_drive(0.001).chosen->step_s, 1.02 * keep_s);
}

// Parameters that a slow drive brings are brought less often; a fast one hides them behind compute.
TEST(Solve, lets_micro_batches_walk_together_where_the_drive_is_slow) {
  constexpr std::int64_t micro_batches = 6;
  auto const solved = [](double gbps, std::optional<int> group) {
    auto drive = machine();
    drive.nvme_write_gbps = drive.nvme_read_gbps = drive.nvme_both_gbps = gbps;
    PlanWords const request{.activations = {"keep"}, .parameters = {"nvme"}, .group = group};
    return solve({graph(), nullptr, request, {kPlenty, 0, kPlenty}, drive, micro_batches, 1});
  };
  auto const together = solved(0.01, {}), alone = solved(0.01, 1);
  ASSERT_TRUE(together.chosen && alone.chosen);
  EXPECT_EQ(alone.chosen->plan.group, 1);
  EXPECT_EQ(together.chosen->plan.group, micro_batches);
  EXPECT_LT(together.chosen->step_s, 0.7 * alone.chosen->step_s);
  EXPECT_EQ(solved(0.01, 4).chosen->plan.group, 4);
  EXPECT_LE(solved(1000, {}).chosen->step_s, 1.001 * solved(1000, 1).chosen->step_s);
}

// They need less memory then, and are no slower where there is enough.
TEST(Solve, puts_gradients_on_the_drive_where_no_plan_fits_else) {
  auto const asked = [](std::string const& gradients, std::int64_t device_bytes) {
    PlanWords const request{.gradients = {gradients}};
    return solve({graph(), nullptr, request, {device_bytes, 0, kPlenty}, machine(), 1, 1});
  };
  auto const least = [&](std::string const& gradients) {
    return asked(gradients, 0).smallest.peak_bytes[Tier::device];
  };
  auto const in_memory = least("device"), anywhere = least("auto");
  ASSERT_LT(anywhere, in_memory);
  auto const between = std::midpoint(anywhere, in_memory);
  EXPECT_FALSE(asked("device", between).chosen);
  auto const fits = asked("auto", between);
  ASSERT_TRUE(fits.chosen);
  EXPECT_GT(std::ranges::count(fits.chosen->plan.chunks, Tier::nvme, &ChunkPlan::gradients), 0);
  for (int const percent : {101, 130}) {
    auto const bytes = in_memory * percent / 100;
    auto const any = asked("auto", bytes), kept = asked("device", bytes);
    ASSERT_TRUE(any.chosen && kept.chosen) << percent;
    EXPECT_LE(any.chosen->step_s, 1.005 * kept.chosen->step_s) << percent;
  }
}

// What it may not spill it makes again.
TEST(Solve, writes_no_more_to_the_drive_than_it_may) {
  Budgets budgets{most_of_it_bytes(), 0, kPlenty};
  auto const solution_for = [&](std::string const& activations) {
    PlanWords request;
    request.activations = {activations};
    request.optimizer = {"device"};
    return solve({graph(), nullptr, request, budgets, machine(), 1, 1});
  };
  auto const written_per_s = [](Solution const& solution) {
    auto const simulation = simulate(solution.chosen->compiled.train, machine());
    return static_cast<double>(simulation.bytes[index(Lane::nvme_write)]) / simulation.step_s;
  };
  auto const free = solution_for("auto");
  auto const most = written_per_s(free);
  ASSERT_GT(most, 0);
  for (double const share : {0.9, 0.5}) {
    budgets.nvme_bytes_per_s = share * most;
    auto const solution = solution_for("auto");
    ASSERT_TRUE(solution.chosen) << share;
    EXPECT_LE(written_per_s(solution), budgets.nvme_bytes_per_s);
    EXPECT_GE(solution.chosen->step_s, 0.999 * free.chosen->step_s);
  }
  auto const forced = solution_for("nvme");
  EXPECT_FALSE(forced.chosen);
  auto const text = describe(forced.smallest, graph(), budgets);
  EXPECT_NE(text.find("spill.max_write_per_day="), std::string::npos) << text;
}

// What wears the drive too fast would take the places of what does not among the few that are
// compiled.
TEST(Search, offers_nothing_that_wears_the_drive_too_fast) {
  std::vector<BlockPolicy> policies;
  for (PolicyRow const& row : kPolicyTable) policies.push_back(row.policy);
  auto const model = block_model(graph(), machine(), policies);
  Estimator const estimator(model, machine(), 1);
  PlanQuestion const question{graph(), nullptr, PlanWords{.optimizer = {"device"}}, {}, machine(),
                              1,       1};
  auto const open = open_plan(graph(), question.request, machine().is_unified());
  Budgets budgets{most_of_it_bytes(), 0, kPlenty};
  auto const written_per_s = [&](Candidate const& candidate) {
    auto const sums = estimator.sums(candidate.plan);
    return static_cast<double>(sums.moved_bytes[Lane::nvme_write]) / sums.bound_s();
  };
  double most = 0;
  for (auto const& found : search(estimator, open, budgets).fitting)
    most = std::max(most, written_per_s(found));
  ASSERT_GT(most, 0);
  std::size_t offered = 0;
  for (double const share : {0.9, 0.5, 0.1}) {
    budgets.nvme_bytes_per_s = share * most;
    auto const fitting = search(estimator, open, budgets).fitting;
    offered += fitting.size();
    for (auto const& found : fitting) EXPECT_FALSE(found.wears_too_fast) << share;
  }
  EXPECT_GT(offered, 0u);
}

// The table of words is large, and the blocks beside it hide no read of it.
TEST(Solve, prefetches_as_far_as_the_links_ask_for) {
  auto const graph = gpt_training_graph(
      {.layers = 4, .hidden = 256, .heads = 4, .vocab = 8000, .sequence = 256, .micro = 4});
  Machine slow{.matmul_gflops_bf16 = 100, .memory_gbps = 20, .nvme_write_gbps = 100};
  slow.nvme_read_gbps = 0.3;
  auto const solved = [&](std::optional<int> prefetch) {
    PlanWords const request{.activations = {"keep"}, .parameters = {"nvme"}, .prefetch = prefetch};
    return *solve({graph, nullptr, request, {kPlenty, 0, kPlenty}, slow, 2, 1}).chosen;
  };
  auto const far = solved({}), near = solved(1);
  EXPECT_GT(far.plan.prefetch, 1);
  EXPECT_EQ(near.plan.prefetch, 1);
  EXPECT_LT(far.step_s, 0.995 * near.step_s);
}

}  // namespace
}  // namespace spillway::test::solve_drive_test
