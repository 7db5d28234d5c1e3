// Computes Muon (Jordan et al., https://kellerjordan.github.io/posts/muon) as torch.optim.Muon
// does, with Nesterov's momentum, but that the iteration of Newton and Schulz is in fp32 where
// torch rounds to bf16. All devices and the host lane use these functions, in which each operation
// is rounded as it is written, so they give the same bits.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/function.hpp"
#include "graph/graph.hpp"

namespace spillway {

// A step of the iteration makes x of x: a x + (b g + c g g) x, where g = x x^T.
struct NewtonSchulz {
  static constexpr float a = 3.4445f, b = -4.7750f, c = 2.0315f;
  static constexpr float eps = 1e-7f;  // the least norm that a matrix is divided by at first
};

// Holds the numbers that all elements of a parameter share in one step.
struct MuonStep {
  float gradient_scale;
  float keep;  // 1 - lr * weight decay; 1 for parameters that do not decay
  float momentum, new1;
  float lr;
};

struct MuonElement {
  float m, direction;
};

struct MuonFormula {
  double momentum, weight_decay;
  double lr_ratio;

  // Returns what the learning rate is multiplied by for a matrix.
  static double ratio(AdjustLr by, std::int64_t rows, std::int64_t columns) {
    auto const all = static_cast<double>(rows), each = static_cast<double>(columns);
    if (by == AdjustLr::original) return std::sqrt(std::max(1.0, all / each));
    return 0.2 * std::sqrt(std::max(all, each));
  }
  SPILLWAY_FUNCTION MuonStep step(double const* control, bool decay) const {
    double const lr = control[control_learning_rate];
    return {static_cast<float>(control[control_gradient_scale]),
            static_cast<float>(decay ? 1 - lr * weight_decay : 1.0), static_cast<float>(momentum),
            static_cast<float>(1 - momentum), static_cast<float>(lr * lr_ratio)};
  }
  SPILLWAY_FUNCTION static MuonElement moved(float m, float gradient, MuonStep const& s) {
    float const g = gradient * s.gradient_scale;
    float const now = std::fma(s.new1, g - m, m);
    return {now, std::fma(s.momentum, now - g, g)};
  }
};

}  // namespace spillway
