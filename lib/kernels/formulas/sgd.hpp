// Computes SGD for one element as torch.optim.SGD does, without dampening and Nesterov's momentum:
// weight decay is added to the gradient, and the moment is a sum of gradients that decays by
// `momentum`. All devices and the host lane use this formula, in which each operation is rounded as
// it is written, so they give the same bits.
#pragma once

#include <cmath>

#include "base/function.hpp"
#include "graph/graph.hpp"

namespace spillway {

struct SgdFormula {
  // Holds a master weight and its moment in fp32, whatever types they have in memory. Without
  // momentum the moment is 0.
  struct Element {
    float master, m;
  };
  // Holds the numbers that all elements of a parameter share in one step. Each number is computed
  // in fp64 and rounded once.
  struct Step {
    float gradient_scale, decay, momentum, lr;  // `decay` is 0 for parameters that do not decay
  };

  double momentum, weight_decay;

  SPILLWAY_FUNCTION Step step(double const* control, bool decay) const {
    return {static_cast<float>(control[control_gradient_scale]),
            static_cast<float>(decay ? weight_decay : 0.0), static_cast<float>(momentum),
            static_cast<float>(control[control_learning_rate])};
  }

  SPILLWAY_FUNCTION Element apply(Element const& e, float gradient, Step const& s) const {
    float const g = std::fma(s.decay, e.master, gradient * s.gradient_scale);
    float const m = std::fma(s.momentum, e.m, g);
    return {std::fma(-s.lr, m, e.master), m};
  }
};

}  // namespace spillway
