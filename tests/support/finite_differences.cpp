#include "tests/support/finite_differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/support/batches.hpp"

namespace spillway::test {
namespace {

// These are steps along directions of length one. A smaller one is for a loss that bends too
// sharply for the larger ones.
constexpr double kSteps[] = {2e-2, 1e-2, 4e-3, 8e-4};

double dot(std::vector<double> const& a, std::vector<double> const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void scale_to_one(std::vector<double>& x) {
  double const norm = std::sqrt(dot(x, x));
  if (norm > 0)
    for (auto& value : x) value /= norm;
}

}  // namespace

FiniteDifferences::FiniteDifferences(Graph graph, unsigned seed,
                                     std::vector<TensorId> const& zeroed)
    : m_random(seed), m_run(std::move(graph), SequentialRun::Side::serial) {
  fill_batch(m_run, m_random);
  draw_parameters();
  for (auto const id : zeroed) std::ranges::fill(m_run.data<float>(id), 0.0f);
  m_run.run(Phase::forward);
  m_run.run(Phase::backward);
  for (auto const& chunk : m_run.graph().chunks) {
    if (!chunk.trainable) continue;
    for (auto const& parameter : chunk.parameters) {
      auto view = parameter.view;
      view.tensor = chunk.gradient;
      m_gradients.push_back({parameter, m_run.values(view)});
    }
  }
}

void FiniteDifferences::draw_parameters() {
  std::normal_distribution<double> normal;
  for (auto const& chunk : m_run.graph().chunks) {
    for (auto const& [name, view, init, decay, quantized] : chunk.parameters) {
      std::vector<double> values(static_cast<std::size_t>(element_count(view.shape)));
      bool const is_gain = init.kind == Init::Kind::ones;
      for (auto& x : values) x = is_gain ? 1 + 0.3 * normal(m_random) : init.std * normal(m_random);
      m_run.set(view, values);
    }
  }
}

// Runs the op lm_head_loss_backward, which also computes the loss: the forward op is elided.
double FiniteDifferences::loss() {
  m_run.run(Phase::forward);
  m_run.run(OpKind::lm_head_loss_backward);
  return m_run.data<double>(m_run.graph().known.loss)[0];
}

// Takes central differences at two distances, so that the error is of fourth order in the step.
double FiniteDifferences::derivative(std::vector<Gradient> const& direction, double step) {
  std::vector<std::vector<double>> starts;
  for (auto const& part : direction) starts.push_back(m_run.values(part.parameter.view));
  auto const loss_at = [&](double distance) {
    for (std::size_t p = 0; p < direction.size(); ++p) {
      auto values = starts[p];
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] += distance * direction[p].values[i];
      m_run.set(direction[p].parameter.view, values);
    }
    return loss();
  };
  double const near = loss_at(step) - loss_at(-step);
  double const far = loss_at(2 * step) - loss_at(-2 * step);
  for (std::size_t p = 0; p < direction.size(); ++p)
    m_run.set(direction[p].parameter.view, starts[p]);
  return (8 * near - far) / (12 * step);
}

FiniteDifferences::Slope FiniteDifferences::measure(Slope slope,
                                                    std::vector<Gradient> const& direction) {
  for (double const step : kSteps) {
    slope.measured = derivative(direction, step);
    if (slope.agrees()) break;
  }
  return slope;
}

FiniteDifferences::Slope FiniteDifferences::slope(Gradient const& gradient) {
  auto along = gradient.values;
  scale_to_one(along);
  double const length = 1 / std::sqrt(static_cast<double>(along.size()));
  for (auto& x : along) x += m_random() % 2 == 0 ? length : -length;
  scale_to_one(along);
  return measure({.of = gradient.parameter.name,
                  .predicted = dot(along, gradient.values),
                  .norm = std::sqrt(dot(gradient.values, gradient.values))},
                 {{gradient.parameter, along}});
}

FiniteDifferences::Slope FiniteDifferences::slope_of_all() {
  double squares = 0;
  for (auto const& part : m_gradients) squares += dot(part.values, part.values);
  double const norm = std::sqrt(squares);
  auto along = m_gradients;
  for (auto& part : along)
    for (auto& x : part.values) x /= norm > 0 ? norm : 1;
  return measure({.of = "all parameters", .predicted = norm, .norm = norm}, along);
}

std::optional<FiniteDifferences::Slope> FiniteDifferences::disagreement() {
  for (auto const& gradient : m_gradients) {
    auto const found = slope(gradient);
    if (!found.agrees()) return found;
  }
  auto const found = slope_of_all();
  if (!found.agrees()) return found;
  return {};
}

bool FiniteDifferences::Slope::agrees() const {
  return std::abs(measured - predicted) <= 1e-3 + 1e-3 * norm;
}

std::string describe(FiniteDifferences::Slope const& slope) {
  return fmt::format("{}: the loss changes by {}, its gradient (norm {}) says {}", slope.of,
                     slope.measured, slope.norm, slope.predicted);
}

bool differ(std::vector<FiniteDifferences::Gradient> const& a,
            std::vector<FiniteDifferences::Gradient> const& b) {
  for (std::size_t p = 0; p < a.size(); ++p) {
    auto difference = a[p].values;
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= b[p].values[i];
    double const apart = std::sqrt(dot(difference, difference));
    if (!(apart <= 0.02 + 0.02 * std::sqrt(dot(a[p].values, a[p].values)))) return true;
  }
  return false;
}

}  // namespace spillway::test
