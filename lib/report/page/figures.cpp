#include "report/page/figures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/median.hpp"
#include "report/page/thinning.hpp"

namespace spillway {
namespace {

PageJson or_null(double value) {
  return std::isfinite(value) ? PageJson(value) : PageJson(nullptr);
}

std::vector<double> known(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

double last_of(std::vector<double> const& values) {
  auto const some = known(values);
  return some.empty() ? kNoValue : some.back();
}

// Copies a field of `from`, which may be null, under the same or another name.
void copy(PageJson& to, PageJson const& from, char const* key, char const* as = nullptr) {
  if (from.is_object() && from.contains(key)) to[as != nullptr ? as : key] = from.at(key);
}

void add_model(PageJson& json, RunFiles const& run) {
  if (run.config) {
    auto const& config = *run.config;
    auto const& model = config.model;
    json["model"] = {{"family", word(model.family)},
                     {"layers", model.layers},
                     {"hidden", model.hidden},
                     {"heads", model.heads},
                     {"vocab", model.vocab},
                     {"sequence", config.data.sequence},
                     {"precision", word(config.precision)}};
    json["batch_sequences"] = config.batch.sequences;
    if (config.batch.micro) json["micro"] = *config.batch.micro;
    json["steps_wanted"] = config.run.steps;
  }
  for (auto const* key : {"parameters", "trained_parameters"}) copy(json, run.plan, key);
  copy(json, run.summary, "parameters");
}

void add_machine(PageJson& json, RunFiles const& run) {
  for (auto const* key : {"version", "git", "devices", "hosts", "ranks", "threads", "mpi"})
    copy(json, run.environment, key);
}

// Adds the last and the least value of a loss, and the step of the least.
void add_loss(PageJson& json, MetricRows const& rows, Metric metric, std::string const& name) {
  auto const& values = rows.of(metric);
  auto best = values.size();
  for (std::size_t row = 0; row < values.size(); ++row)
    if (std::isfinite(values[row]) && (best == values.size() || values[row] < values[best]))
      best = row;
  if (best == values.size()) return;
  json[name + "_last"] = last_of(values);
  json[name + "_best"] = values[best];
  json[name + "_best_step"] = rows.steps[best];
}

double median_of(std::vector<double> const& values) {
  auto some = known(values);
  return some.empty() ? kNoValue : median(some);
}

void add_progress(PageJson& json, RunFiles const& run) {
  using enum Metric;
  auto const& rows = run.rows;
  if (!rows.steps.empty()) {
    json["steps"] = rows.steps.back();
    json["tokens"] = or_null(last_of(rows.of(tokens)));
    json["duration_s"] = rows.of(elapsed_s).back();
    json["measured_step_s"] = or_null(median_of(rows.of(step_s)));
    json["tokens_per_s"] = or_null(median_of(rows.of(tokens_per_s)));
    json["mfu"] = or_null(median_of(rows.of(mfu)));
  }
  copy(json, run.summary, "step", "steps");
  for (auto const* key : {"tokens", "duration_s", "measured_step_s", "restart_s", "exit"})
    copy(json, run.summary, key);
  add_loss(json, rows, loss, "loss");
  add_loss(json, rows, valid_loss, "valid");
  std::int64_t jobs = 0;
  double again = 0;
  for (auto const& event : rows.events) {
    jobs += event.at("event") == "start" || event.at("event") == "resume" ? 1 : 0;
    again += number_in(event, "done_again", 0);
  }
  json["jobs"] = jobs;
  json["done_again"] = std::llround(again);
}

void add_predictions(PageJson& json, RunFiles const& run) {
  for (auto const* key : {"predicted_step_s", "predicted_peak_bytes"}) {
    copy(json, run.plan, key);
    copy(json, run.summary, key);
  }
  for (auto const* key : {"measured_peak_bytes", "outside_bytes", "peak_rss_bytes"})
    copy(json, run.summary, key);
}

// A row has what one rank wrote in its step; steps that were not logged are taken to be like the
// next one.
void add_drive_wear(PageJson& json, RunFiles const& run) {
  auto const& rows = run.rows;
  auto const& spilled = rows.of(Metric::spilled_bytes);
  auto const ranks = number_in(json, "ranks", 1);
  double sum = 0;
  for (std::size_t row = 0; row < rows.steps.size(); ++row)
    if (std::isfinite(spilled[row]))
      sum += spilled[row] * ranks *
             static_cast<double>(rows.steps[row] - (row == 0 ? 0 : rows.steps[row - 1]));
  if (sum <= 0) return;
  json["written_bytes"] = sum;
  json["written_bytes_per_step"] = ranks * median_of(spilled);
  if (!run.summary.is_object() || !run.summary.contains("spill")) return;
  auto const& spill = run.summary.at("spill");
  for (auto const* key : {"lifetime_years", "used_lifetime_years", "backend"})
    copy(json, spill, key);
}

}  // namespace

PageJson figures(RunFiles const& run) {
  PageJson json = PageJson::object();
  add_model(json, run);
  add_machine(json, run);
  add_progress(json, run);
  add_predictions(json, run);
  add_drive_wear(json, run);
  return json;
}

}  // namespace spillway
