#include "profile/op_times.hpp"

#include <gtest/gtest.h>

#include "graph/build.hpp"
#include "kernels/exec.hpp"
#include "kernels/kernel.hpp"
#include "plan/solve.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test {
namespace {

TEST(OpTimes, KnowsEveryOpOfAStepAndTheLinearOnesOnBothLanes) {
  auto config = tiny_config();
  config.model.dropout = 0.1;
  auto graph = tiny_training_graph(config);
  size_workspaces(graph, [](Graph const& g, Op const& op) {
    return workspace_bytes({g.tensors, g.chunks, g.arithmetic}, op);
  });
  auto const program =
      schedule(graph, make_plan(graph, {}, BlockPolicy::keep), Purpose::train, 3, 1);
  Machine machine;
  measure_ops(machine, program, Exec(), std::int64_t{1} << 30);
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::op) continue;
    auto const& op = program.ops[static_cast<std::size_t>(item.op)];
    std::string const kind(name(op.kind));
    EXPECT_GT(machine.kind_giga_per_s[kind], 0) << op.name;
    if (op.chunk >= 0) {
      EXPECT_GT(machine.kind_giga_per_s["host " + kind], 0) << op.name;
    } else {
      EXPECT_GT(machine.op_s[cost_key(op, program.tensors)], 0) << op.name;
    }
  }
  EXPECT_TRUE(machine.kind_giga_per_s.contains("accumulate"));
  Machine unknown;
  measure_ops(unknown, program, Exec(), 1);
  // The same keys, so that ranks can compare; nothing fits a byte.
  ASSERT_EQ(unknown.op_s.size(), machine.op_s.size());
  for (auto const& [key, s] : unknown.op_s) EXPECT_EQ(s, 0) << key;
  EXPECT_TRUE(slowest({&unknown, 1}).op_s.empty());
  EXPECT_TRUE(slowest({&unknown, 1}).kind_giga_per_s.empty());
}

}  // namespace
}  // namespace spillway::test
