// However many threads the host lane has, a run gives the same bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/parity/experiment.hpp"

namespace spillway::test::host_threads_test {
namespace {

// ranks (0: without mpirun), precision, optim.clip
class HostThreads : public testing::TestWithParam<std::tuple<int, std::string, double>> {};

TEST_P(HostThreads, change_no_bit_of_a_run) {
  auto const& [ranks, precision, clip] = GetParam();
  // Layers of several pieces; micro-batches and ranks, whose gradients the host lane adds.
  Experiment const experiment(
      fmt::format("host_threads_{}_{}_{}", ranks, precision, clip), ranks,
      {"precision=" + precision, fmt::format("optim.clip={}", clip), "model.hidden=128",
       "batch.micro=1", "batch.sequences=4", "memory.host=64MiB", "debug.locked_allocator=true"});
  Keys const host = {"plan.gradients=host", "plan.optimizer=host", "plan.update=host"};
  auto const device = experiment.run("device", {"plan.gradients=device", "plan.update=device"});
  for (std::string const count : {"1", "3"}) {
    auto const run = experiment.run(count, host + Keys{"run.host_threads=" + count});
    if (testing::Test::HasFailure()) return;
    expect_equal_steps(device, run);
    expect_equal_state(device, run);
    expect_measured_as_planned(run);
    EXPECT_GT(run.rows.back().at("lanes").at("host").at("busy_s").get<double>(), 0);
  }
}

std::string name_of(testing::TestParamInfo<HostThreads::ParamType> const& info) {
  auto const& [ranks, precision, clip] = info.param;
  return fmt::format("{}_ranks_{}_{}", ranks, precision, clip > 0 ? "clipped" : "free");
}
INSTANTIATE_TEST_SUITE_P(With, HostThreads,
                         testing::Combine(testing::Values(0, 2), testing::Values("bf16", "fp32"),
                                          testing::Values(0.0, 0.25)),
                         name_of);

}  // namespace
}  // namespace spillway::test::host_threads_test
