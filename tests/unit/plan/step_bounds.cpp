// How the bound that no plan can be faster than changes with the machine and the budgets. How it
// compares to what plans take is tested in bounds.cpp.
#include <gtest/gtest.h>

#include "plan/bound/step_bound.hpp"
#include "plan/search/solve.hpp"
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

TEST(StepBounds, tell_little_memory_from_plenty) {
  auto const machine = device_machine();
  double const plenty_s = bound_s(machine, {kGiB, kGiB, kGiB});
  EXPECT_GT(bound_s(machine, {40 * kMiB, kGiB, kGiB}), 1.02 * plenty_s);
}

TEST(StepBounds, are_the_same_each_time) {
  auto const once = step_bound({solve_case::graph(), device_machine(), kBudgets[2], 2, 1, true});
  auto const again = step_bound({solve_case::graph(), device_machine(), kBudgets[2], 2, 1, true});
  EXPECT_EQ(once.step_s, again.step_s);
  EXPECT_EQ(once.limit, again.limit);
}

}  // namespace
}  // namespace spillway::test::step_bounds_test
