#include "train/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spillway {

double learning_rate(OptimConfig const& optim, std::int64_t steps, std::int64_t step) {
  if (step < optim.warmup) {
    return optim.lr * static_cast<double>(step + 1) / static_cast<double>(optim.warmup);
  }
  if (optim.schedule == Schedule::constant) return optim.lr;
  double const span = static_cast<double>(std::max<std::int64_t>(1, steps - 1 - optim.warmup));
  double const done = std::min(1.0, static_cast<double>(step - optim.warmup) / span);
  double const share =
      optim.schedule == Schedule::cosine ? 0.5 * (1 + std::cos(std::numbers::pi * done)) : 1 - done;
  return optim.min_lr + (optim.lr - optim.min_lr) * share;
}

}  // namespace spillway
