// A small GPT-2 against PyTorch's fp64 results: see tests/goldens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/golden.hpp"
#include "tests/support/sequential_run.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway {
namespace {

using test::Golden, test::SequentialRun;
using Side = SequentialRun::Side;

Golden const& golden() {
  static Golden const the_golden(SPILLWAY_GOLDENS "/gpt");
  return the_golden;
}

Config golden_config(Precision precision) {
  auto config = test::tiny_config();
  config.model.layers = golden().integer("layers");
  config.model.hidden = golden().integer("hidden");
  config.model.heads = golden().integer("heads");
  config.data.sequence = golden().integer("sequence");
  config.optim.beta1 = golden().setting("beta1");
  config.optim.beta2 = golden().setting("beta2");
  config.optim.eps = golden().setting("eps");
  config.optim.weight_decay = golden().setting("weight_decay");
  config.precision = precision;
  return config;
}

View known(SequentialRun const& run, TensorId id) {
  return whole(run.graph().tensors[static_cast<std::size_t>(id)]);
}

void set_parameters(SequentialRun& run) {
  for (auto const& chunk : run.graph().chunks) {
    for (auto const& parameter : chunk.parameters) {
      run.set(parameter.view, golden().values("parameter/" + parameter.name));
    }
  }
}

void set_batch(SequentialRun& run, std::int64_t batch) {
  auto const& tensors = run.graph().known;
  run.set(known(run, tensors.of(BatchField::tokens)), golden().values("tokens", batch));
  run.set(known(run, tensors.of(BatchField::targets)), golden().values("targets", batch));
  run.set(known(run, tensors.of(BatchField::weights)), golden().values("weights", batch));
}

double norm(std::vector<double> const& values) {
  double sum = 0;
  for (auto const x : values) sum += x * x;
  return std::sqrt(sum);
}

// The mean loss of the batch; gradients are of the sum.
double forward_and_backward(SequentialRun& run) {
  run.run(Phase::forward);
  run.run(Phase::backward);
  auto const loss = run.data<double>(run.graph().known.loss);
  return loss[0] / loss[1];
}

// What `commit` does. Returns the norm of the mean's gradient.
double write_control(SequentialRun& run, int step) {
  auto const& tensors = run.graph().known;
  auto const weights = run.data<double>(tensors.loss)[1];
  double squares = 0;
  for (auto const x : run.data<double>(tensors.norms)) squares += x;
  double const gradient_norm = std::sqrt(squares) / weights;
  auto const control = run.data<double>(tensors.control);
  std::ranges::fill(control, 0.0);
  control[control_go] = 1;
  control[control_gradient_scale] =
      std::min(1.0, golden().setting("clip") / gradient_norm) / weights;
  control[control_learning_rate] = golden().setting("lr");
  control[control_bias1] = 1 - std::pow(golden().setting("beta1"), step + 1);
  control[control_bias2] = 1 - std::pow(golden().setting("beta2"), step + 1);
  return gradient_norm;
}

class GoldenGpt : public testing::TestWithParam<Side> {};

void expect_gradients(SequentialRun& run, double bound) {
  auto const weights = run.data<double>(run.graph().known.loss)[1];
  for (auto const& chunk : run.graph().chunks) {
    for (auto const& parameter : chunk.parameters) {
      auto view = parameter.view;
      view.tensor = chunk.gradient;
      auto difference = run.values(view);
      auto const reference = golden().values("gradient/" + parameter.name);
      for (std::size_t i = 0; i < reference.size(); ++i) {
        difference[i] = difference[i] / weights - reference[i];
      }
      EXPECT_LT(norm(difference), bound * norm(reference)) << parameter.name;
    }
  }
}

TEST_P(GoldenGpt, LossAndGradientsMatchInFp32) {
  SequentialRun run(test::tiny_training_graph(golden_config(Precision::f32)), GetParam());
  set_parameters(run);
  set_batch(run, 0);
  EXPECT_NEAR(forward_and_backward(run), golden().values("losses")[0], 1e-5);
  expect_gradients(run, 1e-5);
}

// bf16 has 8 bits: a relative error of 2^-9 per stored value, some twenty of them in a row.
TEST_P(GoldenGpt, LossAndGradientsMatchInBf16) {
  SequentialRun run(test::tiny_training_graph(golden_config(Precision::bf16)), GetParam());
  set_parameters(run);
  set_batch(run, 0);
  EXPECT_NEAR(forward_and_backward(run), golden().values("losses")[0], 2e-2);
  expect_gradients(run, 3e-2);
}

TEST_P(GoldenGpt, TenAdamWStepsFollowPyTorch) {
  SequentialRun run(test::tiny_training_graph(golden_config(Precision::f32)), GetParam());
  set_parameters(run);
  auto const losses = golden().values("losses"), norms = golden().values("norms");
  for (int step = 0; step < golden().integer("steps"); ++step) {
    set_batch(run, step % golden().integer("batches"));
    EXPECT_NEAR(forward_and_backward(run), losses[static_cast<std::size_t>(step)], 1e-4) << step;
    run.run(OpKind::square_norm);
    EXPECT_NEAR(write_control(run, step), norms[static_cast<std::size_t>(step)], 1e-3) << step;
    run.run(OpKind::adamw);
  }
}

TEST_P(GoldenGpt, LogitsOfOneRowMatch) {
  auto const config = golden_config(Precision::f32);
  SequentialRun run(test::tiny_forward(config, Purpose::generate), GetParam());
  set_parameters(run);
  auto tokens = golden().values("tokens", 0);
  tokens.resize(static_cast<std::size_t>(config.data.sequence));
  run.set(known(run, run.graph().known.of(BatchField::tokens)), tokens);
  run.set(known(run, run.graph().known.of(BatchField::position)),
          std::vector{golden().setting("position")});
  run.run(Phase::forward);
  auto const reference = golden().values("logits");
  auto const logits = run.values(known(run, run.graph().known.logits));
  for (std::size_t i = 0; i < reference.size(); ++i) EXPECT_NEAR(logits[i], reference[i], 1e-5);
}

INSTANTIATE_TEST_SUITE_P(, GoldenGpt, testing::Values(Side::kernel, Side::serial), [](auto info) {
  return info.param == Side::kernel ? "Kernel" : "Serial";
});

}  // namespace
}  // namespace spillway
