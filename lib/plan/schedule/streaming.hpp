// These rules say when parameters whose home is not on the device are brought there, and how many
// slices are brought ahead of their updates. Schedules and estimates must both use them. Stations
// are explained in tell_step.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/schedule/fates.hpp"

namespace spillway {

// Says whether parameters stay on the device between two uses, since the second use comes soon.
constexpr bool stays(int used, int used_next, int prefetch) {
  return used_next - used <= prefetch + 1;
}
// Returns the station before which a chunk is fetched for its use at `used_next`. `used` is the
// station of the previous use, or -1 if there is none.
constexpr int fetched_at(int used, int used_next, int prefetch) {
  return std::max(used + 1, used_next - prefetch);
}

// A chunk's parameters are fetched before the station `first` and dropped after the station `last`.
struct Visit {
  int first, last;
};
// Calls `visit` with each Visit in order. `used_at` lists the stations that use the chunk, in
// order.
template <class Function>
constexpr void for_each_visit(std::vector<int> const& used_at, int prefetch, Function visit) {
  Visit now{-1, -1};
  for (int const use : used_at) {
    if (now.last < 0 || !stays(now.last, use, prefetch)) {
      if (now.last >= 0) visit(now);
      now.first = fetched_at(now.last, use, prefetch);
    }
    now.last = use;
  }
  if (now.last >= 0) visit(now);
}

// Returns how many elements a slice has when an update needs operands brought. An update that asks
// for its whole chunk has one slice. The last slice may be shorter.
constexpr std::int64_t slice_elements(std::int64_t chunk_elements, bool whole_chunk,
                                      std::int64_t update_slice) {
  return whole_chunk ? chunk_elements : std::min(chunk_elements, update_slice);
}
// Says how many slices are brought before their turn, and how many may still be on their way back.
inline constexpr int kSlicesAhead = 2, kSlicesBehind = 2;
inline constexpr int kUpdateSlots = kSlicesAhead + 1 + kSlicesBehind;
// Returns how many groups after its gradient is whole a chunk is updated early. The sum over ranks
// begins one group later and is complete one more group later. An earlier update would wait for the
// sum.
constexpr int groups_until_updated(bool exchanges) {
  return exchanges ? 2 : 0;
}
// An early update on the host lane is expected to take as long as this many backward groups.
inline constexpr int kGroupsBeside = 2;

// Says when parameters whose home is not on the device are brought there and dropped.
struct Streaming {
  std::vector<std::vector<int>> fetches;  // for each station: chunks to fetch before its first op
  std::vector<std::vector<int>> drops;    // for each station: chunks to drop after its last op
};
// `stations` lists the ops of each station.
Streaming plan_streaming(Graph const& graph, Plan const& plan,
                         IdVector<std::vector<int>> const& stations);

}  // namespace spillway
