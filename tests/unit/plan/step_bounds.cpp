// How the bound that no plan can be faster than changes with the machine and the budgets. How it
// compares to what plans take is tested in bounds.cpp.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/bound/step_bound.hpp"
#include "plan/compile/compile.hpp"
#include "plan/data/machine_file.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/small_machine.hpp"
#include "tests/unit/plan/solve_case.hpp"

namespace spillway::test::step_bounds_test {
namespace {

constexpr std::int64_t kMiB = 1 << 20, kGiB = 1 << 30;
constexpr double kRounding = 1e-5;

Machine device_machine() {
  auto machine = machine_with_slow_links();
  machine.device_bytes = 1;
  return machine;
}

double bound_s(Machine const& machine, Budgets const& budgets, bool norm_is_awaited = true) {
  return step_bound({solve_case::graph(), machine, budgets, 2, 1, norm_is_awaited}).step_s;
}

Budgets const kBudgets[] = {
    {kGiB, 0, 0}, {40 * kMiB, kGiB, 0}, {40 * kMiB, 30 * kMiB, kGiB}, {30 * kMiB, kGiB, kGiB}};

TEST(StepBounds, are_no_less_on_a_slower_machine) {
  for (auto const& budgets : kBudgets) {
    for (MachineField const& field : machine_fields()) {
      for (auto const& machine : {small_machine_with_drive(1), device_machine()}) {
        auto slower = machine;
        slower.*field.at *= field.more_is_better ? 0.5 : 2;
        EXPECT_GE(bound_s(slower, budgets), (1 - kRounding) * bound_s(machine, budgets))
            << field.key;
      }
    }
  }
}

TEST(StepBounds, are_no_more_with_more_memory) {
  for (auto const& budgets : kBudgets) {
    auto const machine = device_machine();
    double const now_s = bound_s(machine, budgets);
    for (Tier const tier : kTiersInOrder) {
      auto more = budgets;
      more.*budget_of(tier) += 8 * kMiB;
      EXPECT_LE(bound_s(machine, more), (1 + kRounding) * now_s) << name(tier);
    }
    EXPECT_LE(bound_s(machine, budgets, false), (1 + kRounding) * now_s);
  }
}

// With links so slow, nothing can hide what leaves the device.
TEST(StepBounds, tell_little_memory_from_plenty) {
  auto machine = device_machine();
  machine.h2d_gbps = machine.d2h_gbps = 0.05;
  double const plenty_s = bound_s(machine, {kGiB, kGiB, kGiB});
  auto const little = solve_case::most_of_it_bytes() / 4;
  EXPECT_GT(bound_s(machine, {little, kGiB, kGiB}), 1.2 * plenty_s);
}

// Computing alone takes half a minute. With any of these sizes of host memory, weights of a dual
// solution that had lost digits once proved nothing.
TEST(StepBounds, hold_for_a_30b_within_any_memory) {
  auto const graph =
      gpt_training_graph({.layers = 48, .hidden = 7168, .heads = 56, .sequence = 1024, .micro = 8});
  auto const machine =
      shared_by(load_machine(SPILLWAY_SOURCE_DIR "/input/machines/rtx3090.yaml"), 1);
  for (std::int64_t host_gib = 60; host_gib < 400; ++host_gib) {
    Budgets const budgets{machine.device_bytes * 19 / 20, host_gib * kGiB, machine.nvme_bytes};
    EXPECT_GT(step_bound({graph, machine, budgets, 1, 1, true}).step_s, 30) << host_gib;
  }
}

TEST(StepBounds, are_the_same_each_time) {
  auto const once = step_bound({solve_case::graph(), device_machine(), kBudgets[2], 2, 1, true});
  auto const again = step_bound({solve_case::graph(), device_machine(), kBudgets[2], 2, 1, true});
  EXPECT_EQ(once.step_s, again.step_s);
  EXPECT_EQ(once.limit, again.limit);
}

// Lanes are fast or slow by chance, and about every third question has ranks and micro-batches.
struct DrawnQuestion {
  Graph graph;
  Machine machine = machine_with_slow_links();
  PlanWords request;
  std::int64_t micro_batches = 1, ranks = 1;

  explicit DrawnQuestion(Random& draws) : graph(gpt_training_graph(random_shape(draws))) {
    machine.device_bytes = below(draws, 3) == 0 ? 0 : 1;
    for (auto const rate : {&Machine::h2d_gbps, &Machine::d2h_gbps, &Machine::memory_gbps,
                            &Machine::matmul_gflops_bf16, &Machine::matmul_gflops_f32})
      machine.*rate *= 1 << below(draws, 6);
    machine.node_gbps = 1 << below(draws, 5);
    request.norm_is_awaited = below(draws, 2) == 0;
    if (below(draws, 3) == 0) ranks = 1 + below(draws, 3);
    if (below(draws, 3) == 0) micro_batches = 1 + below(draws, 4);
  }
};

// Budgets go from plenty to less than there can be.
TEST(StepBounds, are_no_more_than_the_answers_to_drawn_questions) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Random draws(seed);
    DrawnQuestion const drawn(draws);
    auto const& [graph, machine, request, micro_batches, ranks] = drawn;
    auto const plan = make_plan(graph, request);
    auto const program = compile_without_waits(graph, nullptr, plan, micro_batches, ranks).train;
    auto const all = program.peak_bytes[Tier::device];
    for (int const percent : {110, 65, 30}) {
      Budgets budgets{all * percent / 100, 0, 0};
      if (seed % 3 != 0) budgets.host_bytes = all;
      if (seed % 3 != 1) budgets.nvme_bytes = all;
      auto const answer = solve({graph, nullptr, request, budgets, machine, micro_batches, ranks});
      if (!answer.chosen) continue;
      auto const& [chosen, compiled, step_s] = *answer.chosen;
      auto const bound = step_bound(
          {graph, machine, budgets, micro_batches, ranks, request.norm_is_awaited}, chosen, step_s);
      EXPECT_LE(bound.step_s, 1.0001 * step_s) << "seed " << seed << ", " << percent << " %";
      auto const& gap = bound.gap;
      EXPECT_GE(std::min({gap.places_s, gap.activations_s, gap.waits_s}), 0);
      EXPECT_NEAR(gap.places_s + gap.activations_s + gap.waits_s,
                  std::max(0.0, step_s - bound.step_s), 1e-9 * step_s);
    }
  }
}

}  // namespace
}  // namespace spillway::test::step_bounds_test
