// Holds what a run tells its optimizer.
#pragma once

#include "config/choices.hpp"

namespace spillway {

// Each optimizer reads only the numbers that its formula has.
struct OptimizerSettings {
  Optimizer kind = Optimizer::adamw;
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weight_decay = 0.1;
};

}  // namespace spillway
