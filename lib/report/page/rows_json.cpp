#include "report/page/rows_json.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "report/page/thinning.hpp"

namespace spillway {
namespace {

// Returns null for a value that is missing, and a whole number without a point.
PageJson number(double value) {
  if (!std::isfinite(value)) return nullptr;
  bool const is_whole = value == std::floor(value) && std::abs(value) < 9e15;
  return is_whole ? PageJson(static_cast<std::int64_t>(value)) : PageJson(value);
}

PageJson column(std::vector<double> const& values, std::vector<std::size_t> const& shown) {
  auto json = PageJson::array();
  for (auto const row : shown) json.push_back(number(values[row]));
  return json;
}

}  // namespace

std::vector<double> elapsed_s(MetricRows const& rows) {
  std::vector<double> elapsed_s;
  auto const& step_s = rows.of(Metric::step_s);
  double sum_s = 0;
  for (std::size_t row = 0; row < rows.steps.size(); ++row) {
    auto const steps = rows.steps[row] - (row == 0 ? 0 : rows.steps[row - 1]);
    if (std::isfinite(step_s[row])) sum_s += static_cast<double>(steps) * step_s[row];
    elapsed_s.push_back(std::round(1e3 * sum_s) / 1e3);
  }
  return elapsed_s;
}

PageJson rows_json(MetricRows const& rows, std::size_t most) {
  using enum Metric;
  std::vector<std::vector<double>> columns;
  for (auto const metric : {loss, valid_loss, lr, grad_norm, tokens_per_s})
    columns.push_back(rows.of(metric));
  auto const shown = thinned(columns, most);
  PageJson json = {{"all", rows.steps.size()}, {"step", PageJson::array()}};
  for (auto const row : shown) json["step"].push_back(rows.steps[row]);
  json["elapsed_s"] = column(elapsed_s(rows), shown);
  for (std::size_t i = 0; i < kMetricNames.size(); ++i)
    json[std::string(kMetricNames[i])] = column(rows.columns[i], shown);
  return json;
}

}  // namespace spillway
