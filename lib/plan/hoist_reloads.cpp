#include <algorithm>

#include "plan/draft.hpp"
#include "plan/lifetime.hpp"

namespace spillway {

namespace {

// Per group: the most bytes alive during it, over all micro-batch segments.
std::vector<std::int64_t> levels(Draft const& draft, std::vector<std::int64_t> const& live) {
  std::vector<std::int64_t> result(draft.groups.size(), 0);
  std::size_t segment = 0;
  for (auto const& starts : draft.group_starts) {
    auto const end = draft.writer.program.segments[segment++].last;
    for (std::size_t g = 0; g < starts.size(); ++g) {
      auto const first = live.begin() + starts[g];
      auto const last = live.begin() + (g + 1 < starts.size() ? starts[g + 1] : end);
      if (first != last) result[g] = std::max(result[g], *std::max_element(first, last));
    }
  }
  return result;
}

}  // namespace

Hoists hoist_reloads(Draft const& draft, int most) {
  Program const& program = draft.writer.program;
  auto const live = live_bytes(program, lifetimes(program), Tier::device);
  auto const peak = *std::max_element(live.begin(), live.end());
  auto level = levels(draft, live);
  Hoists hoists(draft.graph.tensors.size(), 0);
  for (int distance = 1; distance <= most; ++distance) {
    for (int g = distance; g < static_cast<int>(draft.groups.size()); ++g) {
      for (TensorId const tensor : draft.groups[static_cast<std::size_t>(g)].reloads) {
        int& hoist = hoists[static_cast<std::size_t>(tensor)];
        std::int64_t& there = level[static_cast<std::size_t>(g - distance)];
        auto const bytes =
            footprint_bytes(draft.graph.tensors[static_cast<std::size_t>(tensor)].bytes());
        if (hoist < distance - 1 || there + bytes > peak) continue;
        there += bytes;
        hoist = distance;
      }
    }
  }
  return hoists;
}

}  // namespace spillway
