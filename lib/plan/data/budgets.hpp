// Budgets say how much of each tier a rank may use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "plan/data/plan.hpp"

namespace spillway {

struct Budgets {
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;  // 0 means that there is no host tier
  std::int64_t nvme_bytes = 0;  // 0 means that there is no NVMe tier
  // A step may write to NVMe at this average rate at most, because writes wear a drive out.
  double nvme_bytes_per_s = std::numeric_limits<double>::infinity();
};

// What `auto` takes of memory that is free: the process and the machine need the rest of main
// memory; of a device's own memory, events and what libraries take late.
inline constexpr double kMainMemoryShare = 0.8, kDeviceShare = 0.95;
constexpr std::int64_t share_of(std::int64_t bytes, double share, std::int64_t ranks = 1) {
  return static_cast<std::int64_t>(share * static_cast<double>(bytes) / static_cast<double>(ranks));
}

// Returns a pointer to a tier's member of Budgets, for use as `budgets.*budget_of(tier)`.
constexpr std::int64_t Budgets::*budget_of(Tier tier) {
  constexpr PerTier<std::int64_t Budgets::*> bytes = {&Budgets::device_bytes, &Budgets::host_bytes,
                                                      &Budgets::nvme_bytes};
  return bytes[tier];
}
inline bool has_tier(Budgets const& budgets, Tier tier) {
  return tier == Tier::device || budgets.*budget_of(tier) > 0;
}
inline bool allows(Budgets const& budgets, BlockPolicy policy) {
  return has_tier(budgets, away_tier(policy).value_or(Tier::device));
}

// Returns for each tier by how many bytes its peak exceeds its budget, or 0 if the peak fits.
inline TierBytes missing_bytes(TierBytes const& peaks, Budgets const& budgets) {
  TierBytes missing{};
  for (Tier const tier : kTiersInOrder)
    missing[tier] = std::max<std::int64_t>(0, peaks[tier] - budgets.*budget_of(tier));
  return missing;
}
inline std::int64_t all_missing_bytes(TierBytes const& peaks, Budgets const& budgets) {
  auto const missing = missing_bytes(peaks, budgets);
  return std::accumulate(missing.begin(), missing.end(), std::int64_t{0});
}

}  // namespace spillway
