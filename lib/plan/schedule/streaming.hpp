// These rules say when parameters that are not at home on the device are there, and how far ahead
// of updates their slices are. Schedules and estimates must agree on them. Stations are explained
// in tell_step.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/schedule/fates.hpp"

namespace spillway {

// What is used again so soon is not dropped in between.
constexpr bool stays(int used, int used_next, int prefetch) {
  return used_next - used <= prefetch + 1;
}
// Returns the station before which a chunk is fetched. `used` is its use before this one, -1 for
// none.
constexpr int fetched_at(int used, int used_next, int prefetch) {
  return std::max(used + 1, used_next - prefetch);
}

// In a micro-batch a chunk's parameters are on the device from the station `first`, before which
// they are fetched, to the station `last`, after which they are dropped.
struct Visit {
  int first, last;
};
// `used_at` names the stations that read them, in order. Each Visit in turn goes to `visit`.
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

// An update that must have something brought is cut into slices of so many elements, unless it asks
// for its whole chunk. The last slice may be shorter.
constexpr std::int64_t slice_elements(std::int64_t chunk_elements, bool whole_chunk,
                                      std::int64_t update_slice) {
  return whole_chunk ? chunk_elements : std::min(chunk_elements, update_slice);
}
// So many slices of updates are brought before their turn, or still being taken back after it.
inline constexpr int kSlicesAhead = 2, kSlicesBehind = 2;
inline constexpr int kUpdateSlots = kSlicesAhead + 1 + kSlicesBehind;
// Early updates come so many groups after a gradient is whole. Its sum over ranks is begun one
// group later and is there yet a group later: whoever asked before would wait for it in his lane.
constexpr int groups_until_updated(bool exchanges) {
  return exchanges ? 2 : 0;
}
// An early update on the host lane is expected to be done beside so many backward groups.
inline constexpr int kGroupsBeside = 2;

// Says when the parameters of chunks that are not at home on the device are brought there, and
// dropped.
struct Streaming {
  std::vector<std::vector<int>> fetches;  // for each station: chunks that come before its first op
  std::vector<std::vector<int>> drops;    // for each station: chunks that go after its last op
};
Streaming plan_streaming(Graph const& graph, Plan const& plan, Fates const& fates,
                         std::vector<BackwardGroup> const& groups);

}  // namespace spillway
