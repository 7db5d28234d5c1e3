// The backward pass against central differences of the loss, on tiny fp32 models.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/family_case.hpp"
#include "tests/support/sequential_run.hpp"
#include "tests/support/vocabulary.hpp"

namespace spillway {
namespace {

using test::SequentialRun;

Config small(Config config) {
  config.model.hidden = 16;
  config.data.sequence = 8;
  return config;
}

class Model {
 public:
  explicit Model(Config const& config)
      : m_run(test::tiny_training_graph(config), SequentialRun::Side::serial) {
    set_batch();
    std::normal_distribution<double> normal(0, 0.2);
    for (auto const& chunk : m_run.graph().chunks) {
      for (auto const& parameter : chunk.parameters) {
        set_parameter(parameter, [&](std::size_t) {
          return (parameter.init.kind == Init::Kind::ones ? 1.0 : 0.0) + normal(m_random);
        });
      }
    }
  }

  SequentialRun& run() { return m_run; }

  // The sum of weighted losses; forward's own op is elided, so backward computes it.
  double loss() {
    m_run.run(Phase::forward);
    m_run.run(Phase::backward);
    return m_run.data<double>(m_run.graph().known.loss)[0];
  }

  template <class F>
  void set_parameter(Parameter const& parameter, F const& value) {
    std::vector<double> values(static_cast<std::size_t>(element_count(parameter.view.shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(i);
    m_run.set(parameter.view, values);
  }

 private:
  std::mt19937 m_random{1};
  SequentialRun m_run;

  void set_batch() {
    auto const& known = m_run.graph().known;
    std::uniform_int_distribution<int> token(0,
                                             static_cast<int>(test::vocabulary(m_run.graph())) - 1);
    for (auto& x : m_run.data<std::int32_t>(known.tokens)) x = token(m_random);
    for (auto& x : m_run.data<std::int32_t>(known.targets)) x = token(m_random);
    int row = 0;
    for (auto& x : m_run.data<float>(known.weights)) x = row++ % 5 == 0 ? 0.0f : 1.0f;
    if (known.samples < 0) return;
    std::int64_t sample = 7;
    for (auto& x : m_run.data<std::int64_t>(known.samples)) x = sample++;
  }
};

// The derivative along the gradient itself: its norm, by differences of the loss.
void expect_derivative(Model& model, Chunk const& chunk, Parameter const& parameter,
                       std::vector<double> const& gradient) {
  double squares = 0;
  for (auto const x : gradient) squares += x * x;
  double const norm = std::sqrt(squares);
  ASSERT_GT(norm, 0) << parameter.name;
  auto const start = model.run().values(parameter.view);
  double const h = 3e-3;
  auto const loss_at = [&](double distance) {
    model.set_parameter(parameter,
                        [&](std::size_t i) { return start[i] + distance * gradient[i] / norm; });
    return model.loss();
  };
  double const derivative = (loss_at(h) - loss_at(-h)) / (2 * h);
  model.set_parameter(parameter, [&](std::size_t i) { return start[i]; });
  EXPECT_NEAR(derivative, norm, 5e-4 * norm + 1e-3) << chunk.name << " " << parameter.name;
}

void expect_gradients(Config const& config) {
  Model model(config);
  model.loss();
  std::vector<std::vector<double>> gradients;
  auto const& chunks = model.run().graph().chunks;
  for (auto const& chunk : chunks) {
    for (auto const& parameter : chunk.parameters) {
      auto view = parameter.view;
      view.tensor = chunk.gradient;
      gradients.push_back(model.run().values(view));
    }
  }
  std::size_t next = 0;
  for (auto const& chunk : chunks) {
    for (auto const& parameter : chunk.parameters) {
      expect_derivative(model, chunk, parameter, gradients[next++]);
    }
  }
}

class BackwardNumbers : public testing::TestWithParam<test::FamilyCase> {};

TEST_P(BackwardNumbers, TiedModelsGradientIsTheLossesDerivative) {
  expect_gradients(small(GetParam().config));
}

TEST_P(BackwardNumbers, UntiedModelWithoutBiasToo) {
  auto config = small(GetParam().config);
  config.model.tied = false;
  config.model.bias = false;
  expect_gradients(config);
}

TEST_P(BackwardNumbers, DropoutDrawsTheSameNumbersInBothDirections) {
  auto config = small(GetParam().config);
  config.model.dropout = 0.2;
  expect_gradients(config);
}

INSTANTIATE_TEST_SUITE_P(, BackwardNumbers, testing::ValuesIn(test::family_cases()),
                         [](auto const& info) { return info.param.name; });

}  // namespace
}  // namespace spillway
