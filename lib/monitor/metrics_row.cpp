#include "monitor/metrics_row.hpp"

#include <ctime>

#include "monitor/json_fields.hpp"

namespace spillway {
namespace {

std::vector<StepRow::LaneBusy> lanes_of(RunJson const& row) {
  std::vector<StepRow::LaneBusy> lanes;
  auto const* const all = find(row, "lanes");
  if (all == nullptr || !all->is_object()) return lanes;
  for (Lane const lane : kLanesInOrder) {
    auto const* const use = find(*all, name(lane));
    if (use == nullptr || !use->is_object()) continue;
    lanes.push_back(
        {lane, real_at(*use, "busy_s").value_or(0), real_at(*use, "stall_s").value_or(0)});
  }
  return lanes;
}

StepRow step_row(RunJson const& json, std::int64_t step) {
  StepRow row{.step = step,
              .tokens = count_at(json, "tokens").value_or(0),
              .loss = real_at(json, "loss"),
              .valid_loss = real_at(json, "valid_loss"),
              .grad_norm = real_at(json, "grad_norm"),
              .lr = real_at(json, "lr"),
              .mfu = real_at(json, "mfu"),
              .matmul_share = real_at(json, "matmul_share"),
              .step_s = real_at(json, "step_s").value_or(0),
              .tokens_per_s = real_at(json, "tokens_per_s").value_or(0),
              .lanes = lanes_of(json)};
  row.peak_bytes = tiers_at(json, "peak_bytes");
  for (std::size_t i = 0; i < kMetricNames.size(); ++i)
    row.metrics[i] = real_at(json, kMetricNames[i]).value_or(kNoValue);
  return row;
}

EventRow event_row(RunJson const& json, std::int64_t step) {
  EventRow row{.event = text_at(json, "event"),
               .step = step,
               .time = text_at(json, "time"),
               .from = text_at(json, "from"),
               .plan = text_at(json, "plan"),
               .why = text_at(json, "why"),
               .job = text_at(json, "job"),
               .predicted_step_s = real_at(json, "predicted_step_s")};
  if (auto const exit = count_at(json, "exit"); exit && *exit < 256)
    row.exit = static_cast<int>(*exit);
  row.fields = json;
  auto const* const changed = find(json, "changed");
  if (changed == nullptr || !changed->is_array()) return row;
  for (auto const& line : *changed)
    if (line.is_string()) row.changed.push_back(line.get<std::string>());
  return row;
}

}  // namespace

std::optional<std::variant<StepRow, EventRow>> parse_metrics_row(std::string_view line) {
  auto const json = RunJson::parse(line, nullptr, false);
  if (!json.is_object()) return {};
  auto const step = count_at(json, "step");
  if (!step) return {};
  auto const* const event = find(json, "event");
  if (event == nullptr) return step_row(json, *step);
  if (!event->is_string()) return {};
  return event_row(json, *step);
}

std::optional<double> parse_time_s(std::string const& text) {
  std::tm time{};
  auto const* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  if (end == nullptr || *end != '\0') return {};
  return static_cast<double>(::timegm(&time));
}

}  // namespace spillway
