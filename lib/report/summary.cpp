#include "report/summary.hpp"

#include "report/lane_json.hpp"
#include "report/or_null.hpp"
#include "report/tier_json.hpp"
#include "report/utc_text.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

Json ops(Summary const& summary) {
  Json json = Json::object();
  for (std::size_t kind = 0; kind < kOpKinds; ++kind) {
    if (summary.predicted_op_s[kind] == 0 && summary.measured_op_s[kind] == 0) continue;
    json[std::string(name(static_cast<OpKind>(kind)))] = {
        {"predicted_s", summary.predicted_op_s[kind]}, {"measured_s", summary.measured_op_s[kind]}};
  }
  return json;
}

Json waits(Summary const& summary) {
  Json json = Json::array();
  for (auto const& wait : summary.waits)
    json.push_back(
        {{"waited_s", wait.waited_s}, {"most_for", wait.most_for}, {"for_it_s", wait.for_it_s}});
  return json;
}

// Adds the fields of an Outcome. What no step and no evaluation has shown is null.
void add_outcome(Json& json, Outcome const& outcome) {
  auto const step_of = [](LossRecord const& loss) {
    return loss.best ? Json(loss.best_step) : Json();
  };
  auto const &loss = outcome.loss, &valid = outcome.valid_loss;
  json.update(Json{{"step", outcome.step},
                   {"loss", or_null(loss.last)},
                   {"best_loss", or_null(loss.best)},
                   {"best_loss_step", step_of(loss)},
                   {"valid_loss", or_null(valid.last)},
                   {"best_valid_loss", or_null(valid.best)},
                   {"best_valid_step", step_of(valid)},
                   {"tokens", outcome.tokens},
                   {"parameters", outcome.parameters},
                   {"trainable_parameters", outcome.trainable_parameters},
                   {"started", utc_text(outcome.started)},
                   {"ended", utc_text(outcome.ended)},
                   {"duration_s", outcome.duration_s},
                   {"restart_s", outcome.restart_s},
                   {"done_again", outcome.done_again},
                   {"done_again_s", outcome.done_again_s},
                   {"evaluations", outcome.evaluations},
                   {"evaluations_s", outcome.evaluations_s},
                   {"saves", outcome.saves},
                   {"saves_s", outcome.saves_s}});
}

Json row_json(TimeRow const& row) {
  return {{"min_s", row.min_s},
          {"avg_s", row.avg_s},
          {"max_s", row.max_s},
          {"predicted_s", or_null(row.predicted_s)}};
}

Json times(TimeTable const& table) {
  Json json = Json::object();
  for (auto const& row : table.parts) json[row.part] = row_json(row);
  json[table.whole.part] = row_json(table.whole);
  return json;
}

}  // namespace

std::string to_json(Summary const& summary) {
  auto const& spill = summary.spill;
  Json json = Json::object();
  add_outcome(json, summary.outcome);
  json.update(Json{{"plan", summary.plan},
                   {"predicted_peak_bytes", tiers_json(summary.predicted_peak_bytes)},
                   {"measured_peak_bytes", tiers_json(summary.measured_peak_bytes)},
                   {"outside_bytes", summary.outside_bytes},
                   {"peak_rss_bytes", summary.peak_rss_bytes},
                   {"predicted_step_s", summary.predicted_step_s},
                   {"measured_step_s", summary.measured_step_s},
                   {"ops", ops(summary)},
                   {"spill",
                    {{"backend", spill.backend},
                     {"written_bytes", spill.written_bytes},
                     {"read_bytes", spill.read_bytes},
                     {"write_gbps", spill.write_gbps},
                     {"read_gbps", spill.read_gbps},
                     {"lifetime_years", spill.lifetime_years},
                     {"used_lifetime_years", spill.used_lifetime_years}}},
                   {"stall_by", stalls_json(summary.lanes)},
                   {"lanes", lanes_json(summary.lanes)},
                   {"train_s", summary.train_s},
                   {"waits", waits(summary)},
                   {"times", times(summary.times)},
                   {"warnings", summary.warnings},
                   {"exit", summary.exit}});
  if (!summary.why.empty()) json["why"] = summary.why;
  if (!summary.job.empty()) json["job"] = summary.job;
  if (summary.device_outside_bytes) json["device_outside_bytes"] = *summary.device_outside_bytes;
  if (summary.pinning) {
    json["pinned_bytes"] = summary.pinning->bytes;
    json["pinning_s"] = summary.pinning->seconds;
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace spillway
