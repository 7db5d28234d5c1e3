#include "plan/search/solve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "plan/proof/verify.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/unit/plan/solve_case.hpp"

namespace spillway::test::solve_test {
namespace {

using solve_case::device_bytes, solve_case::graph, solve_case::kPlenty, solve_case::machine,
    solve_case::most_of_it_bytes, solve_case::solve_with, solve_case::Words;

TEST(Solve, does_nothing_when_nothing_is_needed) {
  auto const solution = solve_with({kPlenty, kPlenty, kPlenty});
  ASSERT_TRUE(solution.chosen);
  EXPECT_EQ(solution.chosen->plan, make_plan(graph(), {}, BlockPolicy::keep));
}

// From all there is to nothing: what is chosen fits, takes longer the less there is, and at last
// the smallest need is named, which is met by a budget of its size and by none below.
TEST(Solve, takes_the_fastest_that_fits_and_names_the_smallest_need) {
  for (std::int64_t const nvme_bytes : {std::int64_t{0}, kPlenty}) {
    auto const all = device_bytes(solve_with({kPlenty, 0, nvme_bytes}));
    double fastest_s = 0;
    bool all_fit = true;
    for (int percent = 100; percent > 0; percent -= 5) {
      Budgets const budgets{all * percent / 100, 0, nvme_bytes};
      auto const solution = solve_with(budgets);
      if (!solution.chosen) {
        all_fit = false;
        auto const least = solution.smallest.peak_bytes[index(Tier::device)];
        EXPECT_GT(least, budgets.device_bytes);
        EXPECT_TRUE(solve_with({least, 0, nvme_bytes}).chosen);
        break;
      }
      EXPECT_LE(device_bytes(solution), budgets.device_bytes);
      EXPECT_GE(solution.chosen->step_s, 0.98 * fastest_s) << percent;
      fastest_s = std::max(fastest_s, solution.chosen->step_s);
    }
    EXPECT_FALSE(all_fit);
  }
}

// Where the device and a drive (or host) of just what it takes are short, it ends all the same; and
// twice the same, in all it did.
TEST(Solve, makes_do_with_two_tight_tiers_and_twice_the_same) {
  int tested = 0;
  for (int const layers : {4, 12}) {
    auto const model = gpt_training_graph(
        {.layers = layers, .hidden = 256, .heads = 4, .vocab = 2000, .sequence = 128, .micro = 4});
    auto const solved = [&](Budgets const& budgets) {
      return solve({model, nullptr, {}, budgets, machine(), 1, 1});
    };
    auto const all = device_bytes(solved({kPlenty, 0, 0}));
    for (int const percent : {90, 80, 70, 60}) {
      auto const easy = solved({all * percent / 100, 0, kPlenty});
      if (!easy.chosen) continue;
      ++tested;
      auto const nvme_bytes = easy.chosen->compiled.train.peak_bytes[index(Tier::nvme)];
      for (int const nvme_percent : {100, 60}) {
        Budgets const tight{all * percent / 100, all / 20, nvme_bytes * nvme_percent / 100};
        auto const first = solved(tight), second = solved(tight);
        ASSERT_EQ(first.chosen.has_value(), second.chosen.has_value());
        EXPECT_EQ(first.estimated, second.estimated);
        EXPECT_EQ(first.compiled, second.compiled);
        EXPECT_TRUE(first.chosen || nvme_percent < 100) << layers << " layers, " << percent << " %";
        if (first.chosen) {
          EXPECT_EQ(first.chosen->plan, second.chosen->plan);
        }
      }
    }
  }
  EXPECT_GE(tested, 6);
}

TEST(Solve, says_what_the_smallest_need_is_made_of) {
  auto const solution = solve_with({.device_bytes = 1 << 20, .nvme_bytes = 0});
  EXPECT_FALSE(solution.chosen);
  EXPECT_EQ(solution.smallest.peak_bytes[index(Tier::nvme)], 0);
  auto const text = describe(solution.smallest, graph(), {.device_bytes = 1 << 20});
  EXPECT_TRUE(text.starts_with("needs at least memory.device=")) << text;
  EXPECT_NE(text.find("MiB (activations: "), text.npos) << text;
}

TEST(Solve, names_only_the_budgets_that_are_too_small) {
  constexpr std::int64_t mib = 1 << 20;
  Need need{solve_with({.device_bytes = mib}).smallest.plan, {}};
  need.peak_bytes[Tier::device] = 5 * mib;
  need.peak_bytes[Tier::host] = 3 * mib;
  need.peak_bytes[Tier::nvme] = 7 * mib;
  auto const text = [&](Budgets const& budgets) {
    auto const all = describe(need, graph(), budgets);
    return all.substr(0, all.find(" (activations: "));
  };
  EXPECT_EQ(text({4 * mib, 3 * mib, 8 * mib}), "needs at least memory.device=5MiB");
  EXPECT_EQ(text({5 * mib, mib, 8 * mib}), "needs at least memory.host=3MiB");
  EXPECT_EQ(text({mib, mib, mib}),
            "needs at least memory.device=5MiB and memory.host=3MiB and memory.nvme.size=7MiB");
  need.nvme_bytes_per_s = 1;
  EXPECT_EQ(text({8 * mib, 8 * mib, 8 * mib}), "needs at least spill.max_write_per_day=1MiB");
}

// Chosen Programs can be run: their waits are there.
TEST(Solve, proves_its_choice) {
  for (std::int64_t const device_bytes : {kPlenty, most_of_it_bytes()}) {
    auto const solution = solve_with({device_bytes, 0, kPlenty});
    ASSERT_TRUE(solution.chosen);
    auto program = solution.chosen->compiled.train;
    EXPECT_EQ(verify(program), std::nullopt);
    for (Item& item : program.items) item.waits.clear();
    EXPECT_NE(verify(program), std::nullopt);
  }
}

TEST(Solve, leaves_a_forced_plan_alone) {
  auto const solution = solve_with({kPlenty, 0}, {"nvme"});
  EXPECT_FALSE(solution.chosen);  // no NVMe budget
  EXPECT_GT(solution.smallest.peak_bytes[index(Tier::nvme)], 0);
  PlanWords const forced{.activations = {"nvme", "keep", "auto"},
                         .parameters = {"host"},
                         .gradients = {"device"},
                         .optimizer = {"device", "nvme", "auto"},
                         .update = {"device"},
                         .prefetch = 3};
  auto const free = solve({graph(), nullptr, forced, {kPlenty, kPlenty, kPlenty}, machine(), 1, 1});
  ASSERT_TRUE(free.chosen);
  EXPECT_EQ(free.chosen->plan, make_plan(graph(), forced, BlockPolicy::keep));
}

// Three ranks exchange gradients in host memory, and nothing else lies there.
TEST(Solve, has_ranks_exchange_in_turn_where_host_memory_is_short) {
  auto machine = machine_with_slow_links();
  machine.device_bytes = kPlenty;
  PlanWords const here{.activations = {"keep"},
                       .parameters = {"device"},
                       .gradients = {"device"},
                       .optimizer = {"device"},
                       .update = {"device"},
                       .shard = {"gradients"}};
  auto const with = [&](std::int64_t host_bytes) {
    return solve({graph(), nullptr, here, {kPlenty, host_bytes, 0}, machine, 1, 3});
  };
  auto const plenty = with(kPlenty);
  ASSERT_TRUE(plenty.chosen);
  EXPECT_TRUE(plenty.chosen->plan.exchanges_overlap);
  auto const least = with(plenty.chosen->compiled.train.peak_bytes[Tier::host] - 1);
  ASSERT_TRUE(least.chosen);
  EXPECT_FALSE(least.chosen->plan.exchanges_overlap);
  EXPECT_GE(least.chosen->step_s, plenty.chosen->step_s);
}

// Every assignment of policies to layers is compiled and simulated.
TEST(Solve, is_as_fast_as_the_fastest_assignment_of_policies) {
  auto const small =
      gpt_training_graph({.layers = 4, .hidden = 64, .heads = 4, .vocab = 300, .sequence = 64});
  constexpr BlockPolicy policies[] = {BlockPolicy::keep, BlockPolicy::light, BlockPolicy::recompute,
                                      BlockPolicy::nvme, BlockPolicy::light_nvme};
  struct Outcome {
    std::int64_t device_bytes;
    double step_s;
  };
  std::vector<Outcome> all;
  auto const rates = machine();
  for (int code = 0; code < 5 * 5 * 5 * 5; ++code) {
    Words words;
    for (int rest = code, i = 0; i < 4; ++i, rest /= 5)
      words.emplace_back(name(policies[rest % 5]));
    auto const plan = make_plan(small, PlanWords{.activations = words}, BlockPolicy::keep);
    auto const program = compile(small, nullptr, plan, 1, 1).train;
    all.push_back({program.peak_bytes[0], simulate(program, rates).step_s});
  }
  auto const by_bytes = [](auto const& a, auto const& b) {
    return a.device_bytes < b.device_bytes;
  };
  auto const least = std::ranges::min_element(all, by_bytes)->device_bytes;
  auto const most = std::ranges::max_element(all, by_bytes)->device_bytes;
  for (int percent = 0; percent <= 100; percent += 10) {
    auto const budget = least + (most - least) * percent / 100;
    double best_s = INFINITY;
    for (auto const& [bytes, step_s] : all) {
      if (bytes <= budget) best_s = std::min(best_s, step_s);
    }
    // State stays where it is: only policies are compared.
    PlanWords const on_device{.parameters = {"device"}, .optimizer = {"device"}};
    auto const solution = solve({small, nullptr, on_device, {budget, 0, kPlenty}, rates, 1, 1});
    ASSERT_TRUE(solution.chosen) << percent;
    EXPECT_LE(solution.chosen->step_s, 1.02 * best_s) << percent << " %";
  }
}

// Budgets are to the byte what a plan takes that treats all layers alike. The planner's estimates
// are not that exact.
TEST(Solve, finds_a_plan_wherever_one_fits_that_treats_layers_alike) {
  for (int const micro : {1, 2}) {
    auto const gpt2 = gpt_training_graph({.layers = 12,
                                          .hidden = 768,
                                          .heads = 12,
                                          .vocab = 50257,
                                          .sequence = 1024,
                                          .micro = micro});
    auto const solved = [&](std::string const& policy, std::int64_t device_bytes) {
      PlanWords const words{.activations = {policy},
                            .parameters = {"device"},
                            .gradients = {"device"},
                            .optimizer = {"device"}};
      return solve({gpt2, nullptr, words, {device_bytes, 0, kPlenty}, machine(), 1, 1});
    };
    for (auto const* policy : {"light", "recompute", "nvme", "light+nvme", "recompute+nvme"}) {
      auto const alike = solved(policy, kPlenty);
      auto const open = solved("auto", device_bytes(alike));
      ASSERT_TRUE(open.chosen) << policy << ", micro-batches of " << micro;
      EXPECT_LE(open.chosen->step_s, 1.005 * alike.chosen->step_s) << policy << " " << micro;
    }
  }
}

TEST(Solve, keeps_a_forced_prefetch_where_it_must_search) {
  auto const solved = [&](std::int64_t device_bytes) {
    return solve(
        {graph(), nullptr, PlanWords{.prefetch = 3}, {device_bytes, 0, kPlenty}, machine(), 1, 1});
  };
  auto const tight = solved(most_of_it_bytes()), none = solved(1 << 10);
  ASSERT_TRUE(tight.chosen);
  EXPECT_GT(tight.estimated, 0);
  EXPECT_EQ(tight.chosen->plan.prefetch, 3);
  EXPECT_FALSE(none.chosen);
  EXPECT_EQ(none.smallest.plan.prefetch, 3);
}

}  // namespace
}  // namespace spillway::test::solve_test
