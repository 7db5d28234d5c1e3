// Compares gradients of a graph's loss with differences of the loss itself, which tests the
// backward pass. It runs serial kernels in fp32.
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
  // Draws the batch and the parameters, fills the tensors in `zeroed` with zeros, and runs the
  // forward and the backward pass once.
  FiniteDifferences(Graph graph, unsigned seed, std::vector<TensorId> const& zeroed = {});

  struct Gradient {
    Parameter parameter;
    std::vector<double> values;
  };
  // Returns the gradients of all trainable parameters, which the backward pass has computed.
  std::vector<Gradient> const& gradients() const { return m_gradients; }

  Graph const& graph() const { return m_run.graph(); }
  std::span<float const> data(TensorId tensor) { return m_run.data<float>(tensor); }
  // Runs the ops that compute the norms of the gradients.
  void take_norms() { m_run.run(Phase::norm); }
  std::span<double const> scalars(TensorId tensor) { return m_run.data<double>(tensor); }

  struct Slope {
    std::string of;  // the parameter's name, or "all parameters"
    // `measured` and `predicted` are derivatives of the loss; `norm` is the norm of the gradient.
    double measured = 0, predicted = 0, norm = 0;
    bool agrees() const;
  };
  // Measures how the loss changes along a direction of length one: the normalised sum of the
  // parameter's gradient and a random direction. The gradient alone would not show that a part is
  // missing which is orthogonal to the rest. If `agrees` is false, smaller steps are tried, because
  // the loss may bend sharply.
  Slope slope(Gradient const& gradient);
  // Measures how the loss changes if all parameters move along their gradient, which is scaled to
  // length one.
  Slope slope_of_all();
  // Measures the slopes of every parameter and of all together. Returns the first one for which
  // agrees() is false, if there is one.
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

// Returns whether some parameter's gradients in `a` and `b` differ by a vector whose norm exceeds
// 0.02 plus 2 % of the norm of that gradient in `a`.
bool differ(std::vector<FiniteDifferences::Gradient> const& a,
            std::vector<FiniteDifferences::Gradient> const& b);

}  // namespace spillway::test
