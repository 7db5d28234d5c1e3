#include "monitor/metric_rows.hpp"

#include <algorithm>
#include <cmath>

namespace spillway {

void MetricRows::add(std::int64_t step, MetricValues const& values) {
  forget_after(step - 1);
  steps.push_back(step);
  for (std::size_t i = 0; i < values.size(); ++i) columns[i].push_back(values[i]);
}

std::int64_t MetricRows::forget_after(std::int64_t step) {
  if (steps.empty() || steps.back() <= step) return 0;
  auto const beyond = steps.back() - step;
  auto const kept = static_cast<std::size_t>(std::ranges::upper_bound(steps, step) - steps.begin());
  steps.resize(kept);
  for (auto& column : columns) column.resize(kept);
  return beyond;
}

std::vector<LossPoint> MetricRows::points(Metric metric) const {
  std::vector<LossPoint> points;
  for (std::size_t row = 0; row < steps.size(); ++row)
    if (std::isfinite(of(metric)[row])) points.push_back({steps[row], of(metric)[row]});
  return points;
}

LossPoint const* least_of(std::vector<LossPoint> const& points) {
  auto const least = std::ranges::min_element(points, {}, &LossPoint::loss);
  return least == points.end() ? nullptr : &*least;
}

}  // namespace spillway
