#include "report/page/metric_rows.hpp"

#include <cmath>
#include <string>

#include "report/page/thinning.hpp"

namespace spillway {
namespace {

constexpr auto index_of(Metric metric) {
  return static_cast<std::size_t>(metric);
}

// Removes the rows of steps after `step`, and returns how many steps they reach beyond it.
std::int64_t forget_after(MetricRows& rows, std::int64_t step) {
  if (rows.steps.empty() || rows.steps.back() <= step) return 0;
  auto const beyond = rows.steps.back() - step;
  while (!rows.steps.empty() && rows.steps.back() > step) {
    rows.steps.pop_back();
    for (auto& column : rows.columns) column.pop_back();
  }
  return beyond;
}

void add_event(MetricRows& rows, PageJson event, std::int64_t step) {
  auto const& word = event.at("event");
  if (word == "start" || word == "resume")
    if (auto const again = forget_after(rows, step); again > 0) event["done_again"] = again;
  rows.events.push_back(std::move(event));
}

void add_step(MetricRows& rows, PageJson const& row, std::int64_t step) {
  forget_after(rows, step - 1);
  rows.steps.push_back(step);
  for (std::size_t i = 0; i < kMetricNames.size(); ++i)
    rows.columns[i].push_back(number_in(row, kMetricNames[i], kNoValue));
}

void add_row(MetricRows& rows, PageJson row) {
  auto const step = row.is_object() ? row.find("step") : row.end();
  if (!row.is_object() || step == row.end() || !step->is_number_integer()) {
    ++rows.unread_rows;
    return;
  }
  auto const number = step->get<std::int64_t>();
  if (!row.contains("event")) return add_step(rows, row, number);
  if (row.at("event").is_string()) return add_event(rows, std::move(row), number);
  ++rows.unread_rows;
}

void sum_up_time(MetricRows& rows) {
  auto& elapsed = rows.columns[index_of(Metric::elapsed_s)];
  auto const& step_s = rows.of(Metric::step_s);
  double sum_s = 0;
  for (std::size_t row = 0; row < rows.steps.size(); ++row) {
    auto const steps = rows.steps[row] - (row == 0 ? 0 : rows.steps[row - 1]);
    if (std::isfinite(step_s[row])) sum_s += static_cast<double>(steps) * step_s[row];
    elapsed[row] = std::round(1e3 * sum_s) / 1e3;
  }
}

// Returns null for a value that is missing, and a whole number without a point.
PageJson number(double value) {
  if (!std::isfinite(value)) return nullptr;
  bool const is_whole = value == std::floor(value) && std::abs(value) < 9e15;
  return is_whole ? PageJson(static_cast<std::int64_t>(value)) : PageJson(value);
}

}  // namespace

MetricRows read_metric_rows(std::istream& lines) {
  MetricRows rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    add_row(rows, PageJson::parse(line, nullptr, false));
  }
  sum_up_time(rows);
  return rows;
}

PageJson to_json(MetricRows const& rows, std::size_t most) {
  using enum Metric;
  std::vector<std::vector<double>> shown;
  for (auto const metric : {loss, valid_loss, lr, grad_norm, tokens_per_s})
    shown.push_back(rows.of(metric));
  PageJson json = {{"all", rows.steps.size()}, {"step", PageJson::array()}};
  for (auto const& name : kMetricNames) json[std::string(name)] = PageJson::array();
  for (auto const row : thinned(shown, most)) {
    json["step"].push_back(rows.steps[row]);
    for (std::size_t i = 0; i < kMetricNames.size(); ++i)
      json[std::string(kMetricNames[i])].push_back(number(rows.columns[i][row]));
  }
  return json;
}

}  // namespace spillway
