#include "plan/data/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "plan/proof/verify.hpp"
#include "plan/search/search.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::plan_test {
namespace {

using Words = std::vector<std::string>;

Graph const& graph() {
  static Graph const graph = gpt_training_graph(
      {.layers = 4, .hidden = 256, .heads = 4, .vocab = 300, .sequence = 256, .micro = 4});
  return graph;
}

TEST(Plan, repeats_the_last_entry_of_a_lists) {
  Plan const plan = make_plan(
      graph(),
      PlanWords{.activations = {"keep", "nvme"}, .update = {"host", "device"}, .prefetch = 3},
      BlockPolicy::keep);
  std::vector<BlockPolicy> layers;
  for (std::size_t b = 0; b < graph().blocks.size(); ++b) {
    if (graph().blocks[b].layer) layers.push_back(plan.blocks[b].policy);
  }
  EXPECT_EQ(layers, (std::vector{BlockPolicy::keep, BlockPolicy::nvme, BlockPolicy::nvme,
                                 BlockPolicy::keep}));  // nothing of the last one leaves
  EXPECT_EQ(plan.chunks[0].update, Tier::host);
  EXPECT_EQ(plan.chunks.back().update, Tier::device);
  EXPECT_EQ(plan.prefetch, 3);
}

TEST(Plan, reads_a_fraction_of_rows) {
  Plan const plan = make_plan(graph(), PlanWords{.activations = {"nvme:0.5"}}, BlockPolicy::keep);
  EXPECT_EQ(plan.blocks[1], (BlockPlan{BlockPolicy::nvme, 0.5}));
}

TEST(Plan, refuses_lists_that_are_longer_than_the_model) {
  auto const error_of = [](Words const& activations, Words const& update) -> std::string {
    try {
      make_plan(graph(), PlanWords{.activations = activations, .update = update},
                BlockPolicy::keep);
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

TEST(Plan, has_slices_of_at_least_one_element) {
  auto plan = make_plan(graph(), PlanWords{.optimizer = {"nvme"}}, BlockPolicy::keep);
  plan.update_slice = 0;
  EXPECT_THROW(compile(graph(), nullptr, plan, 1, 1), std::invalid_argument);
}

TEST(Plan, is_written_with_the_keys_of_the_input_file) {
  auto const plan = make_plan(
      graph(),
      PlanWords{
          .activations = {"keep", "light+nvme:0.5"}, .update = {"host", "device"}, .prefetch = 2},
      BlockPolicy::keep);
  auto const text = to_yaml(plan, graph());
  EXPECT_EQ(text.find("activations:\n  - keep        # h.0\n  - light+nvme:0.5 # h.1\n"), 0u)
      << text;
  EXPECT_NE(text.find("update:\n  - host "), std::string::npos);
  EXPECT_NE(text.find("prefetch: 2\n"), std::string::npos);
}

constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

Machine machine() {
  return small_machine_with_drive(1);
}

Solution solve_with(Budgets const& budgets, Words const& activations = {"auto"}) {
  return solve({graph(), nullptr, PlanWords{.activations = activations}, budgets, machine(), 1, 1});
}

std::int64_t device_bytes(Solution const& solution) {
  return solution.chosen->compiled.train.peak_bytes[index(Tier::device)];
}

std::int64_t most_of_it_bytes() {
  return device_bytes(solve_with({kPlenty, 0, 0})) * 8 / 10;
}

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
  EXPECT_TRUE(text.starts_with("needs at least device ")) << text;
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
  EXPECT_EQ(text({4 * mib, 3 * mib, 8 * mib}), "needs at least device 5MiB");
  EXPECT_EQ(text({5 * mib, mib, 8 * mib}), "needs at least host 3MiB");
  EXPECT_EQ(text({mib, mib, mib}), "needs at least device 5MiB and host 3MiB and nvme 7MiB");
  need.nvme_bytes_per_s = 1;
  EXPECT_EQ(text({8 * mib, 8 * mib, 8 * mib}), "needs at least spill.max_write_per_day 1MiB");
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
  EXPECT_NE(text.find("spill.max_write_per_day "), std::string::npos) << text;
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

TEST(Solve, prefetches_as_far_as_the_links_ask_for) {
  Machine slow{.matmul_gflops_bf16 = 100, .memory_gbps = 20, .nvme_write_gbps = 100};
  auto const distance = [&](double read_gbps, std::optional<int> forced = {}) {
    slow.nvme_read_gbps = read_gbps;
    PlanWords const request{.activations = {"nvme"}, .prefetch = forced};
    Budgets const plenty{std::int64_t{1} << 40, 0, std::int64_t{1} << 40};
    return solve({graph(), nullptr, request, plenty, slow, 1, 1}).chosen->plan.prefetch;
  };
  EXPECT_EQ(distance(1000), 1);
  EXPECT_GT(distance(0.1), 1);
  EXPECT_EQ(distance(0.1, 1), 1);
}

}  // namespace
}  // namespace spillway::test::plan_test
