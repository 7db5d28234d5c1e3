// The rows of steps of metrics.jsonl, by column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace spillway {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

enum class Metric : std::uint8_t {
  tokens,
  loss,
  valid_loss,
  lr,
  grad_norm,
  tokens_per_s,
  step_s,
  mfu,
  stall_s,
  spilled_bytes
};
// These are names of fields in metrics.jsonl.
inline constexpr auto kMetricNames =
    std::to_array<std::string_view>({"tokens", "loss", "valid_loss", "lr", "grad_norm",
                                     "tokens_per_s", "step_s", "mfu", "stall_s", "spilled_bytes"});
using MetricValues = std::array<double, kMetricNames.size()>;  // by Metric; NaN for what is missing

struct LossPoint {
  std::int64_t step = 0;
  double loss = 0;
};

struct MetricRows {
  std::vector<std::int64_t> steps;  // ascending
  std::array<std::vector<double>, kMetricNames.size()> columns;

  std::vector<double> const& of(Metric metric) const {
    return columns[static_cast<std::size_t>(metric)];
  }
  // Adds a row. Those of the same step and of later ones are undone by it.
  void add(std::int64_t step, MetricValues const& values);
  // Removes the rows of steps after `step`, and returns how many steps they reach beyond it.
  std::int64_t forget_after(std::int64_t step);
  // Returns the rows that have a value of the metric.
  std::vector<LossPoint> points(Metric metric) const;
};

// Returns the point with the least loss, the first of equal ones, or null if there is none.
LossPoint const* least_of(std::vector<LossPoint> const& points);

}  // namespace spillway
