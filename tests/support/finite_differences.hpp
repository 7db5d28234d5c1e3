// Gradients of a graph's loss against differences of the loss itself: the oracle of the backward
// pass. Serial kernels, fp32.
#pragma once

#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/support/sequential_run.hpp"

namespace spillway::test {

class FiniteDifferences {
 public:
  // Draws batch and parameters, and runs the graph once. `zeroed`: tensors that are zero before the
  // backward pass, not NaN.
  FiniteDifferences(Graph graph, unsigned seed, std::vector<TensorId> const& zeroed = {});

  struct Gradient {
    Parameter parameter;
    std::vector<double> values;
  };
  // Of all trainable parameters, by the backward pass.
  std::vector<Gradient> const& gradients() const { return m_gradients; }

  Graph const& graph() const { return m_run.graph(); }
  std::span<float const> data(TensorId tensor) { return m_run.data<float>(tensor); }
  void take_norms() { m_run.run(Phase::norm); }  // of the gradients
  std::span<double const> scalars(TensorId tensor) { return m_run.data<double>(tensor); }

  struct Slope {
    std::string of;
    double measured = 0, predicted = 0, norm = 0;  // norm: of the gradient
    bool agrees() const;
  };
  // Where they disagree by more than `agrees` allows, in smaller steps: the loss may bend sharply.
  // Along a mean of the parameter's gradient and a random direction, both of length one: the first
  // alone would not show a part of the gradient that is missing and orthogonal to the rest.
  Slope slope(Gradient const& gradient);
  Slope slope_of_all();  // along the gradient of all parameters at once
  // The first that disagrees, if any does.
  std::optional<Slope> disagreement();

 private:
  std::mt19937 m_random;
  SequentialRun m_run;
  std::vector<Gradient> m_gradients;

  void draw_parameters();
  double loss();
  double derivative(std::vector<Gradient> const& direction, double step);
  Slope measure(Slope slope, std::vector<Gradient> const& direction);
};

std::string describe(FiniteDifferences::Slope const& slope);

// Whether some parameter's gradient is another: by more than 2 % of its norm, and 0.02.
bool differ(std::vector<FiniteDifferences::Gradient> const& a,
            std::vector<FiniteDifferences::Gradient> const& b);

}  // namespace spillway::test
