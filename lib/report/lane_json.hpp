// Makes JSON about lanes for metrics.jsonl and summary.json.
#pragma once

#include <nlohmann/json.hpp>

#include "report/metrics.hpp"

namespace spillway {

// Returns JSON with busy_s and stall_s of each lane that was in use and, if it moved bytes, bytes
// and gbps.
nlohmann::ordered_json lanes_json(LaneReport const& report);
// Returns JSON with the seconds that the compute lane waited for each lane, without lanes for which
// it never waited.
nlohmann::ordered_json stalls_json(LaneReport const& report);

}  // namespace spillway
