// A LossRecord remembers the last of a run's losses and the least of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "report/loss_sums.hpp"

namespace spillway {

struct LossRecord {
  std::optional<double> last = {}, best = {};  // nothing if no step had a target
  std::int64_t best_step = 0;                  // how many steps were done

  void add(std::int64_t step, LossSums const& sums) {
    auto const mean = sums.mean();
    if (!mean) return;
    last = mean;
    if (!std::isfinite(*last) || (best && *last >= *best)) return;
    best = last;
    best_step = step;
  }
};

}  // namespace spillway
