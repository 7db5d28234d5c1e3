// Ops are timed on a device without their operands in its caches, as they begin in a step.
#include <gtest/gtest.h>

#include "plan/schedule/schedule.hpp"
#include "plan/search/solve.hpp"
#include "profile/op_bench.hpp"
#include "tests/support/cuda/settings.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/gpt_graph.hpp"

namespace spillway::test::cuda_measures_test {
namespace {

std::int64_t g_launches = 0;

Launch bind_counted(KernelContext const&, Op const&) {
  return [](Exec const&, void* const*) { ++g_launches; };
}
Kernel counted(OpKind) {
  return {bind_counted, bind_counted};
}

// How often the first op of a step is launched, and how often memory is filled for it.
struct Seen {
  std::int64_t launches = 0, fills = 0;
};
Seen measured(std::int64_t sequence) {
  auto const graph = gpt_training_graph(
      {.layers = 1, .hidden = 64, .heads = 4, .vocab = 300, .sequence = sequence});
  auto const program = schedule(graph, make_plan(graph, {}, BlockPolicy::keep), 1, 1);
  DeviceUnderTest on(false);
  Compute const compute{on.device(), KernelTable(counted)};
  Seen seen;
  {
    OpBench bench(program, compute);
    bench.seconds(program.ops.front(), {});  // makes the memory, which is filled with zeros
    auto const fills = cuda::calls()["cudaMemsetAsync"];
    g_launches = 0;
    bench.seconds(program.ops.front(), {});
    seen = {g_launches, cuda::calls()["cudaMemsetAsync"] - fills};
  }
  on.expect_sound();
  return seen;
}

TEST(StandInMeasures, flush_caches_ahead_of_every_launch_unless_a_step_fits_them) {
  auto const large = measured(16384);
  EXPECT_GE(large.launches, 1);
  EXPECT_EQ(large.fills, large.launches);
  EXPECT_EQ(measured(16).fills, 0);
}

}  // namespace
}  // namespace spillway::test::cuda_measures_test
