#include "report/summary.hpp"

#include "report/lane_json.hpp"
#include "report/tier_json.hpp"

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

}  // namespace

std::string to_json(Summary const& summary) {
  auto const& spill = summary.spill;
  Json json = {{"plan", summary.plan},
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
               {"exit", summary.exit}};
  if (!summary.job.empty()) json["job"] = summary.job;
  if (summary.device_outside_bytes) json["device_outside_bytes"] = *summary.device_outside_bytes;
  if (summary.pinning) {
    json["pinned_bytes"] = summary.pinning->bytes;
    json["pinning_s"] = summary.pinning->seconds;
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace spillway
