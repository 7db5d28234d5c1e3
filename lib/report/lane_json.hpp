// What lanes did, in metrics.jsonl and summary.json.
#pragma once

#include <nlohmann/json.hpp>

#include "report/metrics.hpp"

namespace spillway {

// Per lane that has done something: busy_s, stall_s and, where it moves bytes, bytes and gbps.
nlohmann::ordered_json lanes_json(LaneReport const& report);
// Seconds that the compute lane waited, per lane that it waited for.
nlohmann::ordered_json stalls_json(LaneReport const& report);

}  // namespace spillway
