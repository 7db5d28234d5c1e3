// GPTs that are scheduled, and items of their Programs.
#pragma once

#include <string>
#include <vector>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"
#include "plan/schedule/schedule.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"

namespace spillway::test::schedule_case {

using Words = std::vector<std::string>;

// GPT-2 124M, built once.
inline Graph const& gpt2() {
  static Graph const graph = gpt_training_graph({});
  return graph;
}

inline Graph small_gpt() {
  return gpt_training_graph({.layers = 4, .hidden = 128, .heads = 4, .vocab = 300, .sequence = 64});
}

inline Program schedule_gpt(Graph const& graph, Words const& activations, int micro_batches = 1,
                            int ranks = 1, int prefetch = 0, Words const& update = {"device"}) {
  auto const plan = make_plan(
      graph, PlanWords{.activations = activations, .update = update, .prefetch = prefetch},
      BlockPolicy::keep);
  return schedule(graph, plan, micro_batches, ranks);
}

inline Op const& op_of(Program const& program, Item const& item) {
  return program.ops[static_cast<std::size_t>(item.op)];
}

inline std::vector<Item const*> items_on(Program const& program, Lane lane) {
  std::vector<Item const*> items;
  for (Item const& item : program.items) {
    if (item.lane == lane) items.push_back(&item);
  }
  return items;
}

}  // namespace spillway::test::schedule_case
