#include "report/page/figures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/median.hpp"
#include "report/page/rows_json.hpp"

namespace spillway {
namespace {

// Copies a field of `from`, which may be null, under the same or another name.
void copy(PageJson& to, PageJson const& from, char const* key, char const* as = nullptr) {
  if (from.is_object() && from.contains(key)) to[as != nullptr ? as : key] = from.at(key);
}

void add_model(PageJson& json, RunFiles const& run) {
  if (run.record.config) {
    auto const& config = *run.record.config;
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
  if (run.record.parameters > 0) json["parameters"] = run.record.parameters;
  copy(json, run.plan, "trained_parameters");
}

void add_machine(PageJson& json, RunFiles const& run) {
  for (auto const* key : {"version", "git", "devices", "hosts", "ranks", "threads", "mpi"})
    copy(json, run.record.environment, key);
}

// Adds the last and the least value of a loss, and the step of the least.
void add_loss(PageJson& json, MetricRows const& rows, Metric metric, std::string const& name) {
  auto const points = rows.points(metric);
  auto const* const least = least_of(points);
  if (least == nullptr) return;
  json[name + "_last"] = points.back().loss;
  json[name + "_best"] = least->loss;
  json[name + "_best_step"] = least->step;
}

// Returns null for 0, which stands for what is not known.
PageJson known_or_null(double value) {
  return value > 0 ? PageJson(value) : PageJson(nullptr);
}

void add_progress(PageJson& json, RunFiles const& run) {
  auto const& summary = run.record.summary;
  auto const& history = run.record.history;
  auto const& rows = history.rows();
  if (!rows.steps.empty()) {
    json["steps"] = steps_done(run.record);
    json["tokens"] = known_or_null(rows.of(Metric::tokens).back());
    json["duration_s"] = elapsed_s(rows).back();
    json["measured_step_s"] = known_or_null(measured_step_s(run.record));
    json["tokens_per_s"] = known_or_null(history.recent(Metric::tokens_per_s));
    json["mfu"] = known_or_null(history.recent(Metric::mfu));
  }
  copy(json, summary, "step", "steps");
  for (auto const* key : {"tokens", "duration_s", "measured_step_s", "restart_s", "exit"})
    copy(json, summary, key);
  add_loss(json, rows, Metric::loss, "loss");
  add_loss(json, rows, Metric::valid_loss, "valid");
  std::int64_t again = 0;
  for (auto const& event : history.events()) again += event.done_again;
  json["jobs"] = history.jobs().size();
  json["done_again"] = again;
}

void add_predictions(PageJson& json, RunFiles const& run) {
  auto const& summary = run.record.summary;
  copy(json, run.plan, "predicted_step_s");
  for (auto const* from : {&run.plan, &summary}) copy(json, *from, "predicted_peak_bytes");
  auto const step_s = predicted_step_s(run.record);
  if (step_s > 0) json["predicted_step_s"] = step_s;
  for (auto const* key : {"measured_peak_bytes", "outside_bytes", "peak_rss_bytes"})
    copy(json, summary, key);
}

// A row has what one rank wrote in its step; steps that were not logged are taken to be like the
// next one.
void add_drive_wear(PageJson& json, RunFiles const& run) {
  auto const& rows = run.record.history.rows();
  auto const& spilled = rows.of(Metric::spilled_bytes);
  auto const ranks = real_at(json, "ranks").value_or(1);
  std::vector<double> known;
  double sum = 0;
  for (std::size_t row = 0; row < rows.steps.size(); ++row) {
    if (!std::isfinite(spilled[row])) continue;
    known.push_back(spilled[row]);
    sum += spilled[row] * ranks *
           static_cast<double>(rows.steps[row] - (row == 0 ? 0 : rows.steps[row - 1]));
  }
  if (sum <= 0) return;
  json["written_bytes"] = sum;
  json["written_bytes_per_step"] = ranks * median(std::move(known));
  auto const* const spill = find(run.record.summary, "spill");
  if (spill == nullptr) return;
  for (auto const* key : {"lifetime_years", "used_lifetime_years", "backend"})
    copy(json, *spill, key);
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
