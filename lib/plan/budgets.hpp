// What a rank may use of each tier.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "plan/plan.hpp"

namespace spillway {

struct Budgets {
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;  // 0: no host tier
  std::int64_t nvme_bytes = 0;  // 0: no NVMe tier
  // That may be written to the drive, over a step: for its endurance.
  double nvme_bytes_per_s = std::numeric_limits<double>::infinity();
};

inline bool has_tier(Budgets const& budgets, Tier tier) {
  return (tier != Tier::host || budgets.host_bytes > 0) &&
         (tier != Tier::nvme || budgets.nvme_bytes > 0);
}

// What peaks are above their budgets.
inline TierBytes missing_bytes(TierBytes const& peaks, Budgets const& budgets) {
  TierBytes missing = {budgets.device_bytes, budgets.host_bytes, budgets.nvme_bytes};
  for (std::size_t tier = 0; tier < kTiers; ++tier)
    missing[tier] = std::max<std::int64_t>(0, peaks[tier] - missing[tier]);
  return missing;
}
inline std::int64_t all_missing_bytes(TierBytes const& peaks, Budgets const& budgets) {
  auto const missing = missing_bytes(peaks, budgets);
  return std::accumulate(missing.begin(), missing.end(), std::int64_t{0});
}

}  // namespace spillway
