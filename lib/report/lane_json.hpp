// Makes JSON about lanes for metrics.jsonl and summary.json.
#pragma once

#include <nlohmann/json.hpp>

#include "report/metrics.hpp"

namespace spillway {

// Has busy_s and stall_s of each lane that has run items and, if it moved bytes, bytes and gbps.
nlohmann::ordered_json lanes_json(LaneReport const& report);
// Has, for each lane, the seconds that the compute lane waited for it.
nlohmann::ordered_json stalls_json(LaneReport const& report);

}  // namespace spillway
