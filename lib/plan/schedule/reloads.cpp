#include "plan/schedule/reloads.hpp"

#include <algorithm>
#include <set>

#include "plan/memory/lifetime.hpp"

namespace spillway {

namespace {

// Returns for each backward op the most bytes that are alive, in any segment, between its beginning
// and the next op's.
std::vector<std::int64_t> levels(Draft const& draft, std::vector<std::int64_t> const& live) {
  std::vector<std::int64_t> result;
  auto segment = draft.writer.program.segments.begin();
  for (auto const& starts : draft.op_starts) {
    result.resize(starts.size(), 0);
    auto const end = (segment++)->last;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      auto const first = live.begin() + starts[i];
      auto const last = live.begin() + (i + 1 < starts.size() ? starts[i + 1] : end);
      result[i] = std::max(result[i], *std::max_element(first, last));
    }
  }
  return result;
}

}  // namespace

Reloads reload_on_demand(Graph const& graph, Fates const& fates) {
  Reloads reloads;
  std::set<TensorId> seen;
  for (BackwardGroup const& group : backward_groups(graph)) {
    for (auto const* ops : {&fates.repeats[group.block], &group.ops}) {
      for (int const id : *ops) {
        for (View const& view : present(graph.ops[id].inputs)) {
          if (!fates.leaves(view.tensor) || !seen.insert(view.tensor).second) continue;
          reloads[group.ops.front()].push_back(view.tensor);
        }
      }
    }
  }
  return reloads;
}

Reloads hoist_reloads(Draft const& on_demand, int distance) {
  Program const& program = on_demand.writer.program;
  auto const live = live_bytes(program, lifetimes(program), Tier::device);
  auto const peak = *std::max_element(live.begin(), live.end());
  auto level = levels(on_demand, live);
  std::vector<int> ops, begins;  // backward ops, and the place of each group's first op
  Reloads result;
  for (BackwardGroup const& group : on_demand.groups) {
    begins.push_back(static_cast<int>(ops.size()));
    ops.insert(ops.end(), group.ops.begin(), group.ops.end());
    auto const wanted = on_demand.reloads.find(group.ops.front());
    if (wanted == on_demand.reloads.end()) continue;
    int const now = static_cast<int>(begins.size()) - 1;
    int const earliest = begins[std::max(0, now - distance)];
    for (TensorId const tensor : wanted->second) {
      auto const away = on_demand.fates.away_bytes[tensor];
      auto const bytes = footprint_bytes(away, Tier::device);
      auto place = static_cast<std::size_t>(begins.back());
      while (place > static_cast<std::size_t>(earliest) && level[place - 1] + bytes <= peak) {
        level[--place] += bytes;
      }
      result[ops[place]].push_back(tensor);
    }
  }
  return result;
}

}  // namespace spillway
