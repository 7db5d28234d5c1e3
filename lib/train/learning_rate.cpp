#include "train/learning_rate.hpp"

#include <fmt/core.h>

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

std::string changed_rate(Config const& before, Config const& now, std::int64_t step) {
  auto const was = learning_rate(before.optim, before.run.steps, step);
  auto const is = learning_rate(now.optim, now.run.steps, step);
  constexpr double same = 1e-9;
  if (std::abs(was - is) <= same * std::max(was, is)) return "";
  auto const rates = fmt::format(
      "the learning rate of step {} is {:.2e} now, where it was {:.2e} as the run was before",
      step + 1, is, was);
  if (learning_rate(before.optim, now.run.steps, step) != is) return rates;
  return fmt::format(
      "{}: its schedule ends with run.steps; optim.schedule=constant optim.lr={:.2e} goes on at "
      "that rate",
      rates, was);
}

}  // namespace spillway
