// Says at which stations parameters are fetched and dropped if their home is not on the device, and
// how many slices are brought ahead of their updates. Schedules and estimates must agree in this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/schedule/fates.hpp"

namespace spillway {

// Says whether parameters stay on the device between their uses at stations `used` and `used_next`.
constexpr bool stays(int used, int used_next, int prefetch) {
  return used_next - used <= prefetch + 1;
}
// Returns the station before which a chunk is fetched for its use at `used_next`. `used` is the
// station of the previous use, or -1 if there is none.
constexpr int fetched_at(int used, int used_next, int prefetch) {
  return std::max(used + 1, used_next - prefetch);
}

// In a Visit, a chunk's parameters are fetched before station `first` and dropped after `last`.
struct Visit {
  int first, last;
};
// Calls `visit` with each Visit of a chunk in order. The stations `used_at` use the chunk.
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

// Returns how many elements a slice has if operands must be brought to an update. An update that
// works on whole chunks has one slice for each chunk. The last slice of a chunk may be shorter.
constexpr std::int64_t slice_elements(std::int64_t chunk_elements, bool whole_chunk,
                                      std::int64_t update_slice) {
  return whole_chunk ? chunk_elements : std::min(chunk_elements, update_slice);
}

// Says whether sums of a chunk's gradients whose home is not on the device come to it for
// micro-batches that walk together. They then move once to and fro, where otherwise the gradient of
// each micro-batch would go to the host (GreedySnake, arXiv:2512.17570, vertical order). On the
// drive nothing is added, so sums come from it for one micro-batch, too.
inline bool may_visit(Plan const& plan, int chunk) {
  auto const home = plan.chunks[chunk].gradients;
  return home == Tier::nvme || (plan.group > 1 && !plan.unified && home == Tier::host);
}
// Says whether the plan's steps move fewer bytes if micro-batches walk together.
bool gains_by_groups(Plan const& plan);

// While a slice is updated, kSlicesAhead others are brought, and kSlicesBehind are taken back.
inline constexpr int kSlicesAhead = 2, kSlicesBehind = 2;
inline constexpr int kUpdateSlots = kSlicesAhead + 1 + kSlicesBehind;
// Without redo, a chunk is updated this many groups after the one that completes its gradient. The
// sum over ranks begins one group later and is complete one more group later. An earlier update
// would wait for the sum.
constexpr int groups_until_updated(bool exchanges) {
  return exchanges ? 2 : 0;
}
// Without redo, says which of the chunks that the host updates, in the order of their gradients, is
// updated as soon as its gradient is complete, so that `percent` of them are, evenly spread.
constexpr bool is_early(std::int64_t number, std::int64_t percent) {
  return (number + 1) * percent / 100 > number * percent / 100;
}
// Without redo, returns the chunks among `chunks` that the host updates after all groups because
// they are not early (see Plan::early). `ready` says for each chunk after which group its gradient
// is complete, and gradients of one group count in the order of `chunks`.
std::vector<int> put_off(Plan const& plan, std::vector<int> const& chunks,
                         IdVector<int> const& ready);
// An update on the host lane beside the backward pass is expected to take this many groups.
inline constexpr int kGroupsBeside = 2;

// Says at which stations parameters are fetched and dropped if their home is not on the device.
struct Streaming {
  std::vector<std::vector<int>> fetches;  // lists the chunks to fetch before each station
  std::vector<std::vector<int>> drops;    // lists the chunks to drop after each station
};
// Decides when parameters are fetched and dropped. `stations` lists the ops of each station.
Streaming plan_streaming(Graph const& graph, Plan const& plan,
                         IdVector<std::vector<int>> const& stations);

}  // namespace spillway
