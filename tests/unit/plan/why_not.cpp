// These tests ask what a plan decided against.
#include "plan/search/why_not.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/explain/answers.hpp"
#include "plan/search/candidate.hpp"
#include "plan/search/needs.hpp"
#include "plan/search/other_choices.hpp"
#include "plan/time/simulate.hpp"
#include "solve_case.hpp"

namespace spillway::test::why_not_test {
namespace {

using solve_case::graph;

constexpr std::int64_t kGib = std::int64_t{1} << 30;

Machine device_machine() {
  auto machine = solve_case::machine();
  machine.device_bytes = kGib;
  machine.target = "sm_90";
  machine.h2d_gbps = machine.d2h_gbps = 4;
  for (char const* const kind :
       {"host adamw", "host square_norm", "host accumulate", "host tree_sum"})
    machine.kind_giga_per_s[kind] = 5;
  return machine;
}

PlanQuestion question(Machine const& machine, Budgets const& budgets, PlanRequest request = {},
                      std::int64_t micro_batches = 1, std::int64_t ranks = 1) {
  return {graph(), nullptr, std::move(request), budgets, machine, micro_batches, ranks};
}

Plan plan_of(PlanWords const& words, bool unified = false) {
  auto plan = make_plan(graph(), words);
  plan.unified = unified;
  return plan;
}

std::vector<std::string_view> keys(std::vector<OtherPlan> const& all) {
  std::vector<std::string_view> result;
  for (auto const& one : all) result.push_back(one.key);
  return result;
}

Plan const& with(std::vector<OtherPlan> const& all, std::string_view key) {
  return std::ranges::find(all, key, &OtherPlan::key)->plan;
}

TEST(OtherChoices, are_the_nearest_in_one_thing) {
  auto const machine = device_machine();
  auto const plan = plan_of({.activations = {"host", "recompute+nvme", "keep"},
                             .parameters = {"nvme"},
                             .optimizer = {"host"},
                             .update = {"host"}});
  auto const all = other_choices(question(machine, {kGib, kGib, kGib}, {}, 2), plan);
  EXPECT_EQ(keys(all),
            (std::vector<std::string_view>{"plan.activations", "plan.activations=keep",
                                           "plan.activations=recompute", "plan.optimizer=device",
                                           "plan.parameters=host", "plan.update=device",
                                           "plan.prefetch", "plan.group=2", "optim.clip=0"}));
  using enum BlockPolicy;
  auto const layer = [](Plan const& of, int number) {
    for (int b = 0; Block const& block : graph().blocks) {
      if (block.layer && number-- == 0) return of.blocks[b].policy;
      ++b;
    }
    return nvme;
  };
  EXPECT_EQ(layer(with(all, "plan.activations"), 0), host);
  EXPECT_EQ(layer(with(all, "plan.activations"), 1), keep) << "the last one that does not";
  EXPECT_EQ(layer(with(all, "plan.activations=keep"), 0), host);
  EXPECT_EQ(layer(with(all, "plan.activations=keep"), 1), nvme);
  EXPECT_EQ(layer(with(all, "plan.activations=recompute"), 0), recompute);
  for (auto const& chunk : with(all, "plan.optimizer=device").chunks) {
    EXPECT_EQ(chunk.optimizer, Tier::device);
    EXPECT_EQ(chunk.update, Tier::device) << "as the search has it";
    EXPECT_EQ(chunk.parameters, Tier::nvme);
  }
  EXPECT_EQ(with(all, "plan.parameters=host").chunks[0].parameters, Tier::host);
  EXPECT_EQ(with(all, "plan.update=device").chunks[0].optimizer, Tier::host);
  EXPECT_EQ(with(all, "plan.prefetch").prefetch, plan.prefetch + 1);
  EXPECT_EQ(with(all, "plan.group=2").group, 2);
  EXPECT_FALSE(with(all, "optim.clip=0").redo);
  EXPECT_TRUE(with(all, "plan.prefetch").redo);
}

TEST(OtherChoices, leave_alone_what_the_user_asked_for) {
  auto const machine = device_machine();
  PlanWords const words{.activations = {"recompute"},
                        .parameters = {"host"},
                        .gradients = {"host"},
                        .optimizer = {"host"},
                        .update = {"host"},
                        .prefetch = 2,
                        .group = 1,
                        .norm_is_awaited = false};
  auto const all = other_choices(question(machine, {kGib, kGib, kGib}, words, 2), plan_of(words));
  EXPECT_EQ(keys(all), std::vector<std::string_view>{});
}

TEST(OtherChoices, are_none_where_everything_stays) {
  auto const machine = device_machine();
  EXPECT_TRUE(other_choices(question(machine, {kGib, kGib, kGib}, {}, 2), plan_of({})).empty());
}

TEST(OtherChoices, share_out_state_or_do_not) {
  auto const machine = device_machine();
  auto const asked = question(machine, {kGib, kGib, kGib}, {}, 1, 2);
  auto const none = other_choices(asked, plan_of({}));
  EXPECT_EQ(keys(none), std::vector<std::string_view>{"plan.shard=gradients"});
  EXPECT_EQ(none[0].plan.chunks[0].shard, Shard::gradients);
  auto const shared = other_choices(asked, plan_of({.shard = {"all"}}));
  EXPECT_EQ(with(shared, "plan.shard=none").chunks[0].shard, Shard::none);
}

// What nearly fits is simulated. Estimates of the rest are as near as this.
TEST(WhyNot, says_what_the_same_plan_with_that_choice_takes) {
  auto const machine = device_machine();
  Budgets const budgets{solve_case::most_of_it_bytes() * 6 / 10, kGib, 0};
  auto const asked = question(machine, budgets, PlanWords{.parameters = {"device"}, .group = 1}, 2);
  auto const chosen = solve(asked).chosen.value();
  auto const others = other_choices(asked, chosen.plan);
  auto const all = why_not(asked, {chosen.plan, chosen.compiled.train, chosen.step_s});
  ASSERT_GE(all.size(), others.size() - 1);
  ASSERT_GE(all.size(), 4u);
  int fitting = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].key, others[i].key);
    auto const exact_s = simulated_step_s(asked, others[i].plan);
    EXPECT_NEAR(all[i].cost.step_s, exact_s, (all[i].cost.fits ? 1e-9 : 0.1) * exact_s)
        << all[i].words;
    auto const exact = compile_without_waits(graph(), nullptr, others[i].plan, 2, 1).train;
    auto const device_bytes = static_cast<double>(exact.peak_bytes[Tier::device]);
    EXPECT_NEAR(static_cast<double>(all[i].cost.peak_bytes[Tier::device]), device_bytes,
                0.1 * device_bytes)
        << all[i].words;
    EXPECT_EQ(all[i].cost.fits, fits(exact.peak_bytes, budgets)) << all[i].words;
    fitting += all[i].cost.fits ? 1 : 0;
  }
  EXPECT_GT(fitting, 0);
  EXPECT_LT(fitting, std::ssize(all));
}

// This plan writes as fast as it may, some others faster.
TEST(WhyNot, leaves_out_what_wears_the_drive_too_fast) {
  auto const machine = device_machine();
  auto asked = question(machine, {kGib, 0, kGib});
  auto const plan = plan_of({.activations = {"recompute"}, .optimizer = {"nvme"}});
  auto const compiled = compile(graph(), nullptr, plan, 1, 1).train;
  auto const step = simulate(compiled, machine);
  auto const rows = [&] {
    auto const all = why_not(asked, {plan, compiled, step.step_s});
    std::vector<std::string_view> keys;
    for (auto const& one : all) keys.push_back(one.key);
    return keys;
  };
  auto const bytes_per_s = [&](std::string_view key) {
    auto const other = with(other_choices(asked, plan), key);
    auto const written = simulated_step(asked, other);
    return static_cast<double>(written.bytes[Lane::nvme_write]) / written.step_s;
  };
  auto const all = rows();
  auto const most = static_cast<double>(step.bytes[Lane::nvme_write]) / step.step_s;
  asked.budgets.nvme_bytes_per_s = most;
  std::vector<std::string_view> allowed;
  for (auto const key : all)
    if (bytes_per_s(key) <= most) allowed.push_back(key);
  EXPECT_EQ(rows(), allowed);
  EXPECT_LT(allowed.size(), all.size());
  EXPECT_FALSE(allowed.empty());
}

// A plan that takes no time at all is not faster without clipping.
TEST(WhyNot, tells_of_clipping_only_what_it_costs) {
  auto const machine = device_machine();
  auto const asked = question(machine, {kGib, kGib, 0});
  auto const plan = plan_of({.optimizer = {"host"}});
  auto const compiled = compile(graph(), nullptr, plan, 1, 1).train;
  auto const told = [&](double step_s) {
    auto const all = why_not(asked, {plan, compiled, step_s});
    return std::ranges::count(all, "optim.clip=0", &OtherChoice::key);
  };
  EXPECT_EQ(told(1e9), 1);
  EXPECT_EQ(told(1e-9), 0);
}

// Of Programs that are long in all, those that lack much are estimated.
TEST(WhyNot, estimates_long_plans_that_lack_much) {
  static Graph const large = gpt_training_graph(
      {.layers = 40, .hidden = 1024, .heads = 8, .vocab = 1000, .sequence = 256, .micro = 4});
  auto const machine = device_machine();
  Budgets const budgets{2 * kGib, 32 * kGib, 0};
  PlanQuestion const asked{large, nullptr, PlanRequest{}, budgets, machine, 2, 1};
  auto plan = make_plan(large, PlanWords{.activations = {"host"}, .optimizer = {"host"}});
  plan.unified = false;
  auto const compiled = compile(large, nullptr, plan, 2, 1).train;
  auto const step_s = simulate(compiled, machine).step_s;
  auto const others = other_choices(asked, plan);
  ASSERT_GT(compiled.items.size() * others.size(), 20'000u);
  int estimated = 0;
  auto const all = why_not(asked, {plan, compiled, step_s});
  ASSERT_GE(all.size(), others.size() - 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].key, others[i].key);
    auto const exact_s = simulated_step_s(asked, others[i].plan);
    EXPECT_NEAR(all[i].cost.step_s, exact_s, 0.1 * exact_s) << all[i].words;
    estimated += all[i].cost.step_s == exact_s ? 0 : 1;
  }
  EXPECT_GT(estimated, 0);
}

// Beside the longest Programs nothing is compiled, and estimates say what fits.
TEST(WhyNot, estimates_beside_the_longest_plans_what_fits) {
  auto const machine = device_machine();
  auto const asked = question(machine, {kGib, kGib, 0});
  auto const plan = plan_of({.optimizer = {"host"}});
  auto compiled = compile(graph(), nullptr, plan, 1, 1).train;
  auto const step_s = simulate(compiled, machine).step_s;
  compiled.items.resize(50'001);
  auto const all = why_not(asked, {plan, compiled, step_s});
  ASSERT_FALSE(all.empty());
  for (auto const& one : all) EXPECT_TRUE(one.cost.fits) << one.words;
}

TEST(WhyNot, is_told_beside_the_busiest_lane) {
  Simulation simulation;
  simulation.step_s = 4;
  simulation.busy_s[Lane::compute] = 2;
  simulation.busy_s[Lane::nvme_read] = 3;
  simulation.busy_s[Lane::data] = 9;
  EXPECT_EQ(busiest_lane(simulation), Lane::nvme_read);
  PlanCost const now{true, {kGib, 0, 0}, 4};
  Budgets const budgets{kGib, kGib, 0};
  EXPECT_EQ(why_not_text({}, now, budgets, simulation),
            "\nBusiest: reading NVMe, 75 % of a step.\n");
  std::vector<OtherChoice> const choices = {
      {"updates on the device", "plan.update=device", {true, {kGib, 0, 0}, 5}},
      {"optimizer state on the device", "plan.optimizer=device", {false, {3 * kGib, 0, 0}, 3}},
      {"parameters in host memory", "plan.parameters=host", {false, {3 * kGib, 3 * kGib, 0}, 3}}};
  EXPECT_EQ(why_not_text(choices, now, budgets, simulation),
            "\nBusiest: reading NVMe, 75 % of a step.\n"
            "Why not otherwise? This plan with one choice changed\n"
            "                                     step            device      host      NVMe\n"
            "  updates on the device               5 s   +25 %     1 GiB         -         -\n"
            "  optimizer state on the device  does not fit: needs 2 GiB more device memory,\n"
            "                                   then 3 s\n"
            "  parameters in host memory      does not fit: needs 2 GiB more device memory\n"
            "                                   and 2 GiB more host memory, then 3 s\n");
  EXPECT_EQ(why_not_text(choices, now, budgets, {}), "") << "of nobody knows how long a step";
}

}  // namespace
}  // namespace spillway::test::why_not_test
