// When parameters that are not at home on the device are there, and how far ahead of updates their
// slices are: what schedules and estimates must agree on. A station is one block's forward ops, or
// one block's backward ops with what they repeat; a micro-batch passes all in order.
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
// The station before which it is fetched; `used`: the use before this one, -1 for none.
constexpr int fetched_at(int used, int used_next, int prefetch) {
  return std::max(used + 1, used_next - prefetch);
}

// Of a chunk's parameters on the device, in a micro-batch: from the station before which they are
// fetched to the one after which they are dropped.
struct Visit {
  int first, last;
};
// `used_at`: the stations that read them, in order. Each Visit in turn goes to `visit`.
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

// An update that must have something brought is cut into slices, of which the last may be shorter,
// unless it asks for its whole chunk: elements of one.
constexpr std::int64_t slice_elements(std::int64_t chunk_elements, bool whole_chunk,
                                      std::int64_t update_slice) {
  return whole_chunk ? chunk_elements : std::min(chunk_elements, update_slice);
}
// Slices of updates that are brought before their turn, or still being taken back after it.
inline constexpr int kSlicesAhead = 2, kSlicesBehind = 2;
inline constexpr int kUpdateSlots = kSlicesAhead + 1 + kSlicesBehind;
// Early updates come as soon as a gradient is whole. Its sum over ranks is begun one group after
// this rank's part and is there yet a group later: whoever asked before would wait for it in his
// lane.
constexpr int groups_until_updated(bool exchanges) {
  return exchanges ? 2 : 0;
}
// Backward groups beside which an early update on the host lane is expected to be done.
inline constexpr int kGroupsBeside = 2;

// When the parameters of chunks that are not at home on the device are brought there, and dropped.
struct Streaming {
  std::vector<std::vector<int>> fetches;  // per station: chunks, before its first op
  std::vector<std::vector<int>> drops;    // per station: chunks, after its last op
};
Streaming plan_streaming(Graph const& graph, Plan const& plan, Fates const& fates,
                         std::vector<BackwardGroup> const& groups);

}  // namespace spillway
