// Computes Lion (Chen et al., arXiv:2302.06675) for one element as lion-pytorch does, with
// decoupled weight decay. All devices and the host lane use this formula, in which each operation
// is rounded as it is written, so they give the same bits.
#pragma once

#include <cmath>

#include "base/function.hpp"
#include "graph/graph.hpp"

namespace spillway {

struct LionFormula {
  // Holds a master weight and its moment in fp32, whatever types they have in memory.
  struct Element {
    float master, m;
  };
  // Holds the numbers that all elements of a parameter share in one step. Each number is computed
  // in fp64 and rounded once.
  struct Step {
    float gradient_scale;
    float keep;                    // 1 - lr * weight decay; 1 for parameters that do not decay
    float old1, new1, old2, new2;  // beta1, 1 - beta1, beta2, 1 - beta2
    float lr;
  };

  double beta1, beta2, weight_decay;

  SPILLWAY_FUNCTION Step step(double const* control, bool decay) const {
    double const lr = control[control_learning_rate];
    return {static_cast<float>(control[control_gradient_scale]),
            static_cast<float>(decay ? 1 - lr * weight_decay : 1.0),
            static_cast<float>(beta1),
            static_cast<float>(1 - beta1),
            static_cast<float>(beta2),
            static_cast<float>(1 - beta2),
            static_cast<float>(lr)};
  }

  SPILLWAY_FUNCTION Element apply(Element const& e, float gradient, Step const& s) const {
    float const g = gradient * s.gradient_scale;
    float const direction = std::fma(s.old1, e.m, s.new1 * g);
    float const sign = direction > 0 ? 1.0f : direction < 0 ? -1.0f : 0.0f;
    return {std::fma(-s.lr, sign, e.master * s.keep), std::fma(s.old2, e.m, s.new2 * g)};
  }
};

}  // namespace spillway
