// Busy says how long work keeps the lanes and the shared resources of a machine busy.
#pragma once

#include <array>
#include <cstdint>

#include "plan/time/item_cost.hpp"

namespace spillway {

// Holds the seconds that each lane takes, then those that each shared resource needs at full use.
inline constexpr std::size_t kBusyParts = kLanes + kResources;
using Busy = std::array<double, kBusyParts>;

inline void add(Busy& sum, Busy const& busy, double times = 1) {
  for (std::size_t i = 0; i < kBusyParts; ++i) sum[i] += times * busy[i];
}
inline Busy operator*(double times, Busy const& busy) {
  Busy result{};
  add(result, busy, times);
  return result;
}

Busy busy_with(ItemCost const& cost, Lane lane, Machine const& machine);
// Returns what it takes to copy a byte between two tiers, or to send one to other ranks, without
// what an item takes to begin and to end.
Busy copy_of_byte(Lane lane, Machine const& machine);
Busy send_of_byte(std::int64_t ranks, Machine const& machine);

}  // namespace spillway
