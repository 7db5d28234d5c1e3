#include "report/lane_json.hpp"

namespace spillway {

nlohmann::ordered_json lanes_json(LaneReport const& report) {
  auto json = nlohmann::ordered_json::object();
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    auto const& use = report.use[lane];
    if (use == LaneUse{}) continue;
    auto& entry = json[std::string(name(static_cast<Lane>(lane)))];
    entry = {{"busy_s", use.busy_s}, {"stall_s", use.stall_s}};
    if (use.bytes == 0) continue;
    entry["bytes"] = use.bytes;
    entry["gbps"] = use.busy_s > 0 ? static_cast<double>(use.bytes) / use.busy_s * 1e-9 : 0;
  }
  return json;
}

nlohmann::ordered_json stalls_json(LaneReport const& report) {
  auto json = nlohmann::ordered_json::object();
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    double const s = report.compute_stall_s[lane];
    if (s > 0) json[std::string(name(static_cast<Lane>(lane)))] = s;
  }
  return json;
}

}  // namespace spillway
