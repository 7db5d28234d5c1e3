// A Program that is written into the memory of another one is the same Program.
#include <gtest/gtest.h>

#include "plan/compile/compile.hpp"
#include "plan/proof/derive.hpp"
#include "plan/schedule/schedule.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::spare_programs_test {
namespace {

TEST(SparePrograms, leave_nothing_of_them_behind) {
  Random draws(7);
  Graph const graph = gpt_training_graph(
      {.layers = 3, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 64, .micro = 2});
  Program spare;
  for (int i = 0; i < 60; ++i) {
    auto plan = random_plan(graph, draws);
    auto const micro_batches = 1 + below(draws, 4), ranks = 1 << below(draws, 3);
    for (ChunkPlan& chunk : plan.chunks)
      if (below(draws, 2) == 0) chunk.shard = Shard::gradients;
    auto const alone = schedule_without_links(graph, plan, micro_batches, ranks);
    auto again = schedule_without_links(graph, plan, micro_batches, ranks, std::move(spare));
    ASSERT_TRUE(again == alone) << i;
    spare = std::move(again);
    if (i % 2 == 0) find_waits(spare);  // trials leave waits behind
  }
}

TEST(SparePrograms, take_as_long_with_the_waits_that_others_imply) {
  Random draws(8);
  auto const machine = small_machine_with_drive(1);
  Graph const graph = gpt_training_graph(
      {.layers = 3, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 64, .micro = 2});
  for (int i = 0; i < 30; ++i) {
    auto program = compile_without_waits(graph, nullptr, random_plan(graph, draws), 3, 1).train;
    find_waits(program);
    auto const step_s = simulate(program, machine).step_s;
    drop_implied_waits(program);
    ASSERT_EQ(simulate(program, machine).step_s, step_s) << i;
  }
}

}  // namespace
}  // namespace spillway::test::spare_programs_test
