// LossSums are a sum of losses, and the number of targets whose losses were added.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace spillway {

struct LossSums {
  double loss = 0, weight = 0;  // a sum of losses, and the number of their targets

  std::int64_t targets() const { return std::llround(weight); }
  // Returns the mean loss of a target, or nothing if there was no target.
  std::optional<double> mean() const {
    return weight == 0 ? std::nullopt : std::optional(loss / weight);
  }
};

}  // namespace spillway
