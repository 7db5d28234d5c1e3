// A small graph and machine, and the plans that are found for them within budgets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::solve_case {

using Words = std::vector<std::string>;

inline Graph const& graph() {
  static Graph const graph = gpt_training_graph(
      {.layers = 4, .hidden = 256, .heads = 4, .vocab = 300, .sequence = 256, .micro = 4});
  return graph;
}

inline constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

inline Machine machine() {
  return small_machine_with_drive(1);
}

inline Solution solve_with(Budgets const& budgets, Words const& activations = {"auto"}) {
  return solve({graph(), nullptr, PlanWords{.activations = activations}, budgets, machine(), 1, 1});
}

inline std::int64_t device_bytes(Solution const& solution) {
  return solution.chosen->compiled.train.peak_bytes[index(Tier::device)];
}

inline std::int64_t most_of_it_bytes() {
  return device_bytes(solve_with({kPlenty, 0, 0})) * 8 / 10;
}

}  // namespace spillway::test::solve_case
