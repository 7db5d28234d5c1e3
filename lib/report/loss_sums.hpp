// A loss over what there was to predict.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace spillway {

struct LossSums {
  double loss = 0, weight = 0;  // every target has weight 1

  std::int64_t targets() const { return std::llround(weight); }
  // Empty where nothing was to be predicted.
  std::optional<double> mean() const {
    return weight == 0 ? std::nullopt : std::optional(loss / weight);
  }
};

}  // namespace spillway
