// Small models of every family, trained by the program on a GPU: how a run is planned changes no
// bit, losses are those of the cores, and checkpoints serve both.
#include <fmt/format.h>

#include "tests/gpu/gpu.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::trained_test {
namespace {

// fp32 losses of ten steps are off by at most so much from those of PyTorch in fp64, on any
// machine, in all golden models (rounding/losses in tests/goldens).
constexpr double kGoldenTolerance = 4.4e-5;

struct TinyModel {
  std::string name;
  Keys keys;
};
std::ostream& operator<<(std::ostream& out, TinyModel const& model) {
  return out << model.name;
}

// Sizes are odd: heads that fill no tile, sequences that end within one.
std::vector<TinyModel> tiny_models() {
  return {{"Gpt", {"model.family=gpt", "model.heads=2"}},
          {"Llama",
           {"model.family=llama", "model.heads=3", "model.kv_heads=1", "model.head_size=16",
            "model.ffn=56", "data.pack=true"}},
          {"Bert", {"model.family=bert", "model.heads=2", "model.ffn=56"}},
          {"T5",
           {"model.family=t5", "model.heads=2", "model.head_size=16", "model.relative_buckets=8",
            "data.target=11"}}};
}

// The interpreter of PTX takes seconds for what takes a GPU none: there an ordinary run trains one
// family, for fewer steps and under fewer plans.
bool takes_few() {
  return on_ptx() && !takes_all();
}
int steps() {
  return takes_few() ? 2 : 10;
}
std::vector<TinyModel> models() {
  auto const all = tiny_models();
  if (!takes_few()) return all;
  return {all[turn_of(all.size())]};
}

struct NamedPlan {
  std::string name;
  Keys keys;
};
std::vector<NamedPlan> plans() {
  std::vector<NamedPlan> const all = {
      {"tiers",
       {"plan.activations=[nvme,host]", "plan.parameters=[host,device,nvme]",
        "plan.gradients=[host,device]", "plan.optimizer=[nvme,host,device]",
        "plan.update=[host,device]", "plan.prefetch=1"}},
      {"recompute", {"plan.activations=recompute"}},
      {"spilled", {"plan.activations=nvme", "plan.prefetch=2"}},
      {"host",
       {"plan.activations=host", "plan.parameters=host", "plan.gradients=host",
        "plan.optimizer=host", "plan.update=host"}},
      {"nvme",
       {"plan.activations=light+nvme", "plan.parameters=nvme", "plan.gradients=nvme",
        "plan.optimizer=nvme", "plan.update=device", "plan.prefetch=0"}}};
  if (takes_few()) return {all.front()};
  return all;
}

Keys const kOnDevice = {"plan.activations=keep", "plan.parameters=device", "plan.gradients=device",
                        "plan.optimizer=device", "plan.update=device"};

class TrainedOnGpu : public testing::TestWithParam<TinyModel> {
 protected:
  Experiment experiment(std::string const& name, int ranks, Keys const& keys = {}) const {
    auto const half = fmt::format("{}", steps() / 2);
    Keys const tiny = {"model.layers=2",
                       "model.hidden=32",
                       "data.sequence=22",
                       fmt::format("batch.sequences={}", 2 * std::max(1, ranks)),
                       "batch.micro=1",
                       "optim.clip=0.25",
                       fmt::format("run.steps={}", steps()),
                       fmt::format("run.eval.every={}", steps()),
                       "run.checkpoint.every=" + half,
                       "debug.poison=true",
                       "debug.locked_allocator=true"};
    return Experiment("gpu_" + GetParam().name + name, ranks, tiny + GetParam().keys + keys);
  }

  void expect_plans_agree(int ranks, std::string const& precision) const {
    auto const all = experiment(fmt::format("_{}_{}", ranks, precision), ranks,
                                Keys{"precision=" + precision} + on_gpu(ranks));
    auto const reference = all.run("device", kOnDevice);
    if (HasFailure()) return;
    EXPECT_TRUE(reference.summary.contains("device_outside_bytes")) << "it computed on the cores";
    expect_measured_as_planned(reference);
    for (auto const& [name, keys] : plans()) {
      auto const run = all.run(name, keys);
      if (HasFailure()) return;
      expect_equal_steps(reference, run);
      expect_equal_state(reference, run);
      expect_measured_as_planned(run);
    }
  }
};

TEST_P(TrainedOnGpu, gives_equal_bits_under_every_plan_in_bf16) {
  expect_plans_agree(0, "bf16");
}

TEST_P(TrainedOnGpu, gives_equal_bits_under_every_plan_in_fp32) {
  if (takes_few()) GTEST_SKIP() << "bf16 alone has its turn";
  expect_plans_agree(0, "fp32");
}

TEST_P(TrainedOnGpu, gives_equal_bits_under_every_plan_of_two_ranks) {
  expect_plans_agree(2, "bf16");
}

TEST_P(TrainedOnGpu, has_the_losses_of_the_cores_and_goes_on_from_their_checkpoints) {
  auto const all = experiment("_cores", 0, {"precision=fp32"});
  auto const gpu = all.run("gpu", on_gpu(1));
  auto const cores = all.run("cores", on_cores());
  if (HasFailure()) return;
  auto const there = all.resume("gpu_to_cores", gpu, steps() / 2, on_cores());
  auto const back = all.resume("cores_to_gpu", cores, steps() / 2, on_gpu(1));
  for (auto const& run : {gpu, there, back}) {
    auto const first = cores.rows.size() - run.rows.size();
    for (std::size_t i = 0; i < run.rows.size(); ++i) {
      EXPECT_EQ(run.rows[i].at("step"), cores.rows[first + i].at("step"));
      EXPECT_NEAR(run.number(i, "loss"), cores.number(first + i, "loss"), kGoldenTolerance)
          << run.dir << ", step " << run.rows[i].at("step");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, TrainedOnGpu, testing::ValuesIn(models()),
                         [](auto const& info) { return info.param.name; });

}  // namespace
}  // namespace spillway::test::trained_test
