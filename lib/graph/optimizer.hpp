// Names the optimizers, and holds what a run tells its own.
#pragma once

#include <cstdint>
#include <string_view>

namespace spillway {

enum class OptimizerKind : std::uint8_t {
#define SPILLWAY_OPTIMIZER(name) name,
#include "graph/optimizers/optimizers.def"
#undef SPILLWAY_OPTIMIZER
};

// Returns the optimizer that input files call `word`, which lib/config has checked.
OptimizerKind optimizer_kind(std::string_view word);

// An optimizer reads the numbers that it knows.
struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::adamw;
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weight_decay = 0.1;
};

}  // namespace spillway
