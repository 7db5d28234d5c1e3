// Computes AdamW (Loshchilov and Hutter, arXiv:1711.05101) for one element as torch.optim.AdamW
// does. All devices and the host lane use the function `adamw`, in which each operation is rounded
// as it is written, so they give the same bits.
#pragma once

#include <cmath>

#include "base/bf16.hpp"
#include "graph/graph.hpp"

namespace spillway {

struct AdamWConstants {
  double beta1, beta2, eps, weight_decay;
  double lr_share = 1;  // multiplies the step's learning rate
};

// Holds the numbers that all elements of a parameter share in one step. Each number is computed in
// fp64 and rounded once.
struct AdamWStep {
  float gradient_scale;
  float keep;                     // 1 - lr * weight decay; 1 for parameters that do not decay
  float new1, old2, new2;         // 1 - beta1, beta2, 1 - beta2
  float step_size;                // lr / (1 - beta1^t)
  float inverse_root_bias2, eps;  // 1 / sqrt(1 - beta2^t); eps
};

SPILLWAY_FUNCTION AdamWStep adamw_step(AdamWConstants const& c, double const* control, bool decay) {
  double const lr = control[control_learning_rate] * c.lr_share;
  return {static_cast<float>(control[control_gradient_scale]),
          static_cast<float>(decay ? 1 - lr * c.weight_decay : 1.0),
          static_cast<float>(1 - c.beta1),
          static_cast<float>(c.beta2),
          static_cast<float>(1 - c.beta2),
          static_cast<float>(lr / control[control_bias1]),
          static_cast<float>(1 / std::sqrt(control[control_bias2])),
          static_cast<float>(c.eps)};
}

// Holds a master weight and its moments in fp32, whatever types they have in memory.
struct AdamWElement {
  float master, m, v;
};

SPILLWAY_FUNCTION AdamWElement adamw(AdamWElement const& e, float gradient, AdamWStep const& s) {
  float const g = gradient * s.gradient_scale;
  float const m = std::fma(s.new1, g - e.m, e.m);
  float const v = std::fma(s.old2, e.v, s.new2 * g * g);
  float const root = std::fma(std::sqrt(v), s.inverse_root_bias2, s.eps);
  return {std::fma(-s.step_size, m / root, e.master * s.keep), m, v};
}

// Has the formula as kernels ask for it.
struct AdamWFormula {
  using Element = AdamWElement;
  using Step = AdamWStep;

  AdamWConstants constants;

  SPILLWAY_FUNCTION Step step(double const* control, bool decay) const {
    return adamw_step(constants, control, decay);
  }
  SPILLWAY_FUNCTION Element apply(Element const& e, float gradient, Step const& s) const {
    return adamw(e, gradient, s);
  }
};

}  // namespace spillway
