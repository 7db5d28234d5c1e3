// Computes Adafactor (Shazeer and Stern, arXiv:1804.04235) as torch.optim.Adafactor does, with its
// default of eps1. All devices and the host lane use these functions, in which each operation is
// rounded as it is written, so they give the same bits.
#pragma once

#include <cmath>
#include <limits>

#include "base/function.hpp"
#include "graph/graph.hpp"

namespace spillway {

// Holds the numbers that all elements of a parameter share in one step. `rho` multiplies the
// parameter's root mean square.
struct AdafactorStep {
  float gradient_scale;
  float keep;  // 1 - lr * weight decay; 1 for parameters that do not decay
  float new2;  // what the newest square counts
  double rho;
};

struct AdafactorFormula {
  static constexpr float eps1 = std::numeric_limits<float>::epsilon();

  double clip_threshold, eps2, weight_decay;

  SPILLWAY_FUNCTION AdafactorStep step(double const* control, bool decay) const {
    double const lr = control[control_learning_rate];
    double const most = 1 / std::sqrt(control[control_update]);
    return {static_cast<float>(control[control_gradient_scale]),
            static_cast<float>(decay ? 1 - lr * weight_decay : 1.0),
            static_cast<float>(control[control_new2]), lr < most ? lr : most};
  }
  // Returns the average of squares that follows `v`.
  SPILLWAY_FUNCTION static float average(float v, float square, AdafactorStep const& s) {
    return std::fma(s.new2, square - v, v);
  }
  // Returns the mean of the averages over rows, by which those over rows and columns are divided.
  SPILLWAY_FUNCTION static float mean(double sum_of_rows, std::int64_t rows) {
    auto const mean = static_cast<float>(sum_of_rows / static_cast<double>(rows));
    return mean > eps1 ? mean : eps1;
  }
  // Returns the update of an element before it is clipped.
  SPILLWAY_FUNCTION static float direction(float g, float v) {
    float const least = eps1 * eps1;
    return g * (1 / std::sqrt(v > least ? v : least));
  }
  // Returns what directions are multiplied by. Sums of squares are those of the masters before the
  // step, and of all directions.
  SPILLWAY_FUNCTION float size(double masters, double directions, std::int64_t elements,
                               AdafactorStep const& s) const {
    auto const n = static_cast<double>(elements);
    double const rms = std::sqrt(masters / n), excess = std::sqrt(directions / n) / clip_threshold;
    return static_cast<float>((rms > eps2 ? rms : eps2) * s.rho / (excess > 1 ? excess : 1));
  }
};

}  // namespace spillway
