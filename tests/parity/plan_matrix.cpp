#include "tests/parity/plan_matrix.hpp"

#include <fmt/format.h>

#include "tests/support/sample.hpp"

namespace spillway::test {
namespace {

constexpr double kClip = 0.25;  // below every norm of these runs

Keys const kWatched = {"debug.poison=true", "debug.locked_allocator=true"};

// Without these, a plan that keeps its activations may still put other state on the drive.
Keys const kStateOnDevice = {"plan.parameters=device", "plan.gradients=device",
                             "plan.optimizer=device"};

void expect_fates(Run const& keep, Run const& recompute, Run const& nvme) {
  EXPECT_EQ(keep.spilled_bytes(), 0);
  EXPECT_EQ(recompute.spilled_bytes(), 0);
  EXPECT_GT(nvme.spilled_bytes(), 0);
}

}  // namespace

Run expect_plans_agree(Experiment const& experiment) {
  auto const keep = experiment.run("keep", Keys{"plan.activations=keep"} + kStateOnDevice);
  auto const recompute =
      experiment.run("recompute", Keys{"plan.activations=recompute"} + kStateOnDevice + kWatched);
  auto const nvme =
      experiment.run("nvme", Keys{"plan.activations=nvme", "plan.prefetch=2"} + kWatched);
  auto const mixed = experiment.run(
      "mixed", Keys{"plan.activations=[nvme,recompute,keep]", "plan.gradients=[nvme,device,nvme]",
                    "plan.update=host", "plan.prefetch=0"} +
                   kWatched);
  if (testing::Test::HasFailure()) return keep;
  auto const resumed = experiment.resume("resumed", keep, 3,
                                         {"plan.activations=nvme", "plan.gradients=nvme",
                                          "plan.prefetch=0", "plan.update=[host,device]"});
  if (testing::Test::HasFailure()) return keep;
  EXPECT_EQ(resumed.rows.front().at("step"), 4);
  expect_fates(keep, recompute, nvme);
  expect_measured_as_planned(keep);
  for (auto const& run : {recompute, nvme, mixed, resumed}) {
    expect_equal_steps(keep, run);
    expect_equal_state(keep, run);
    expect_measured_as_planned(run);
  }
  return keep;
}

std::vector<PlanCase> some_plan_cases(std::uint64_t offset) {
  auto const cases = plan_cases();
  if (takes_all()) return cases;
  auto const turn = turn_of(cases.size() / 2, offset);
  return {cases[turn], cases[cases.size() - 1 - turn]};
}

std::string case_name(testing::TestParamInfo<PlanCase> const& info) {
  auto const& [precision, micro_batches, clip] = info.param;
  return fmt::format("{}_{}_micro_batches_{}", precision, micro_batches, clip);
}

void expect_plans_agree(PlanCase const& plan_case, int ranks) {
  auto const& [precision, micro_batches, clip] = plan_case;
  bool const clipped = clip == "clipped";
  constexpr int micro = 2;
  Experiment const experiment(
      fmt::format("plans_{}_{}_{}_{}", ranks, precision, micro_batches, clip), ranks,
      {"precision=" + precision, fmt::format("batch.micro={}", micro),
       fmt::format("batch.sequences={}", micro * micro_batches * ranks),
       fmt::format("optim.clip={}", clipped ? kClip : 0)});
  auto const keep = expect_plans_agree(experiment);
  for (auto const& row : keep.rows) EXPECT_GT(row.at("grad_norm").get<double>(), kClip);
}

}  // namespace spillway::test
