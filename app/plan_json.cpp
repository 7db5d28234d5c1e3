#include "app/plan_json.hpp"

#include <algorithm>
#include <string_view>

#include "app/json_text.hpp"
#include "app/plan_once.hpp"
#include "app/run_answer.hpp"
#include "plan/data/plan.hpp"
#include "plan/explain/answers.hpp"
#include "plan/explain/explain.hpp"
#include "plan/explain/verdict.hpp"
#include "plan/time/critical_path.hpp"
#include "plan/time/drive_use.hpp"
#include "report/tier_json.hpp"
#include "samples/batch_shape.hpp"
#include "state/restored_start.hpp"
#include "train/save_time.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

Json predicted(PlanReport const& report) {
  auto const& program = report.planned.programs.train;
  auto const& peaks = program.peak_bytes;
  auto const step_s = report.simulation.step_s;
  auto const spilled = report.simulation.bytes[index(Lane::nvme_write)];
  auto const use = drive_use(spilled, step_s, program.ranks, report.machine);
  auto const save = estimate_save(report.planned.train, leaves_base(report.config.run),
                                  report.machine, program.ranks);
  auto const tokens = tokens_of_step(report.config);
  auto const shape =
      batch_shape(report.config.batch, report.planned.train.arithmetic.micro, 0, program.ranks);
  Json json = {{"step_s", step_s},
               {"bound_s", report.bound.step_s},
               {"bound_limit", report.bound.limit},
               {"bound_gap_s",
                {{"places", report.bound.gap.places_s},
                 {"activations", report.bound.gap.activations_s},
                 {"waits", report.bound.gap.waits_s}}},
               {"tokens_per_s", step_s > 0 ? tokens / step_s : 0},
               {"empty_share", 1 - shape.filled()},
               {"peak_bytes", tiers_json(peaks)},
               {"host_bytes", peaks[index(Tier::host)]},
               {"nvme_bytes", peaks[index(Tier::nvme)]},
               {"spill_bytes_per_step", spilled},
               {"drive_bytes_per_day", use.day_bytes},
               {"ssd_lifetime_years", use.lifetime_years},
               {"ssd_used_lifetime_years", use.used_lifetime_years},
               {"checkpoint_bytes", save.bytes},
               {"checkpoint_s", save.seconds()}};
  if (!shape.counts.empty()) json["micro_batches"] = shape.counts;
  return json;
}

// Returns the time as JSON: null if it is 0, which means that a rate it depends on is unknown.
Json seconds(double step_s) {
  return step_s > 0 ? Json(step_s) : Json(nullptr);
}

Json costs(std::vector<Alternative> const& alternatives, PlanReport const& report) {
  Json json = Json::object();
  for (Alternative const& other : alternatives)
    json[std::string(other.name)] = cost_json(other.cost, report.budgets);
  return json;
}

Json why_not(PlanReport const& report) {
  Json json = Json::array();
  for (OtherChoice const& other : report.why_not) {
    Json one = {{"choice", other.words}, {"key", other.key}};
    one.update(cost_json(other.cost, report.budgets));
    json.push_back(std::move(one));
  }
  return json;
}

Json busiest(Simulation const& simulation) {
  auto const lane = busiest_lane(simulation);
  auto const busy_s = simulation.busy_s[lane], step_s = simulation.step_s;
  return {{"lane", name(lane)},
          {"busy_s", busy_s},
          {"share", step_s > 0 ? Json(busy_s / step_s) : Json(nullptr)}};
}

Json one_more_gib(std::vector<MoreRoom> const& more) {
  Json json = Json::object();
  for (MoreRoom const& room : more)
    json[std::string(name(room.tier))] = {{"step_s", seconds(room.cost.step_s)},
                                          {"peak_bytes", tiers_json(room.cost.peak_bytes)}};
  return json;
}

Json path(PlanReport const& report) {
  auto const& program = report.planned.programs.train;
  Json json = Json::object();
  for (LaneShare const& lane : shares(program, critical_path(program, report.simulation))) {
    for (auto const& kind : lane.kinds)
      json[std::string(name(lane.lane))][kind.name] = kind.seconds;
  }
  return json;
}

// Lists, for each tier and content, how many bytes are in use at the moment when most bytes of the
// tier are. "gaps" are the bytes of the peak that layout could not fill at that moment.
Json at_peak(Program const& program) {
  Json json = Json::object();
  for (Tier const tier : kTiersInOrder) {
    auto const moment = peak_moment(program, tier);
    auto& of_tier = json[std::string(name(tier))] = Json::object();
    for (auto const& contributor : moment.contributors) {
      auto& bytes = of_tier[std::string(name(contributor.content))];
      bytes = (bytes.is_null() ? 0 : bytes.get<std::int64_t>()) + contributor.bytes;
    }
    of_tier["gaps"] = moment.gap_bytes;
  }
  return json;
}

}  // namespace

Json cost_json(PlanCost const& cost, Budgets const& budgets) {
  return {{"fits", cost.fits},
          {"step_s", seconds(cost.step_s)},
          {"peak_bytes", tiers_json(cost.peak_bytes)},
          {"missing_bytes", tiers_json(missing_bytes(cost.peak_bytes, budgets))}};
}

std::string to_json(PlanReport const& report) {
  auto const& planned = report.planned;
  Json json = {{"fits", true},
               {"plan", to_yaml(planned.plan, planned.train)},
               {"parameters", planned.train.parameter_count()},
               {"trainable_parameters", planned.train.trained_parameter_count()},
               {"predicted", predicted(report)},
               {"search_s", planned.search_s},
               {"candidates", planned.estimated},
               {"verdict", verdict_in(report.explanation)},
               {"alternatives", costs(report.others.alternatives, report)},
               {"why_not", why_not(report)},
               {"busiest", busiest(report.simulation)},
               {"critical_path", path(report)},
               {"at_peak", at_peak(planned.programs.train)}};
  if (report.run) json["run"] = run_json(*report.run);
  auto const& others = report.others;
  if (!others.more.empty()) json["one_more_gib"] = one_more_gib(others.more);
  if (!others.shardings.empty()) json["sharding"] = costs(others.shardings, report);
  return json_text(json);
}

}  // namespace spillway
