#include "app/table_json.hpp"

#include "app/json_text.hpp"
#include "app/run_answer.hpp"
#include "report/tier_json.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

// Returns a number of ranks or bytes, or a text: a path, "none" or "auto".
Json value_json(Variation::Value const& value) {
  return value.number.value_or(0) > 0 ? Json(*value.number) : Json(value.text);
}

// Times are null if nobody knows them.
Json known(double value) {
  return value > 0 ? Json(value) : Json(nullptr);
}

Json row_json(PlanTable const& table, PlanTable::Row const& row) {
  auto const& plan = row.plan;
  Json json = Json::object();
  for (std::size_t at = 0; auto const& variation : table.variations) {
    json[variation.name] = value_json(table.value(row, at));
    ++at;
  }
  json["fits"] = plan.fits();
  if (!plan.fits()) {
    json["why"] = plan.why;
    return json;
  }
  json.update({{"step_s", known(plan.step_s)},
               {"tokens_per_s", known(plan.tokens_per_s)},
               {"peak_bytes", tiers_json(plan.peak_bytes)},
               {"bound_by", {{"lane", name(plan.bound.lane)}, {"share", plan.bound.share}}}});
  if (has_optimizers(table)) json["state_bytes"] = plan.state_bytes;
  if (asked_tokens(table) > 0 || plan.run.price > 0) json["run"] = run_json(plan.run);
  return json;
}

}  // namespace

std::string table_json(PlanTable const& table) {
  Json json = {{"varied", Json::array()},
               {"rows", Json::array()},
               {"fastest", nullptr},
               {"cheapest", nullptr},
               {"least", Json::object()}};
  for (std::size_t at = 0; auto const& variation : table.variations) {
    json["varied"].push_back(variation.name);
    if (auto const* const least = least_row(table, at))
      json["least"][variation.name] = value_json(table.value(*least, at));
    ++at;
  }
  for (auto const& row : table.rows) json["rows"].push_back(row_json(table, row));
  if (auto const* const fastest = fastest_row(table)) json["fastest"] = fastest - &table.rows[0];
  if (auto const* const cheapest = cheapest_row(table))
    json["cheapest"] = cheapest - &table.rows[0];
  return json_text(json);
}

}  // namespace spillway
