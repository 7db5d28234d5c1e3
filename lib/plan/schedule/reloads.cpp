#include "plan/schedule/reloads.hpp"

#include <algorithm>
#include <set>

#include "plan/memory/lifetime.hpp"

namespace spillway {

namespace {

// Returns for each backward op, in the order in which `members` micro-batches run them, the most
// bytes that are in use at a time, in any segment of so many, from the beginning of the op to the
// beginning of the next one.
IdVector<std::int64_t> levels(Draft const& draft, std::vector<std::int64_t> const& live,
                              int members) {
  IdVector<std::int64_t> result;
  auto segment = draft.program.segments.begin();
  for (auto const& starts : draft.op_starts) {
    auto const& [name, first, end, micro_batches] = *segment++;
    if (micro_batches != members) continue;
    result.resize(starts.size(), 0);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      auto const first = live.begin() + starts[i];
      auto const last = live.begin() + (i + 1 < starts.size() ? starts[i + 1] : end);
      result[i] = std::max(result[i], *std::max_element(first, last));
    }
  }
  return result;
}

// Returns the reloads of `members` micro-batches that walk together.
Reloads hoisted(GraphShape const& shape, int members, IdVector<std::int64_t> level,
                std::int64_t peak) {
  struct Place {
    int member, op;
  };
  IdVector<Place> places;  // lists backward ops in order
  IdVector<int> begins;    // station s begins at places[begins[s]]
  Reloads result(static_cast<std::size_t>(members), Reloads::value_type(shape.reloads().size()));
  for (int group = 0; group < shape.groups(); ++group) {
    for (int member = 0; member < members; ++member) {
      begins.push_back(static_cast<int>(places.size()));
      for (int const op : shape.backward_ops(group)) places.push_back({member, op});
      auto const station = static_cast<int>(begins.size()) - 1;
      int const earliest = begins[std::max(0, station - shape.plan().prefetch)];
      for (TensorId const tensor : shape.reloads()[shape.backward_op(group, 0)]) {
        auto const bytes = footprint_bytes(shape.fates().away_bytes[tensor], Tier::device);
        int at = begins.back();
        while (at > earliest && level[at - 1] + bytes <= peak) level[--at] += bytes;
        auto const& [when, op] = places[at];
        result[static_cast<std::size_t>(when)][op].push_back({tensor, member});
      }
    }
  }
  return result;
}

}  // namespace

void hoist_reloads(GraphShape& shape, Draft const& on_demand) {
  Program const& program = on_demand.program;
  auto const live = live_bytes(program, lifetimes(program), Tier::device);
  auto const peak = *std::max_element(live.begin(), live.end());
  std::set<int> counts;
  for (Segment const& segment : program.segments) counts.insert(segment.micro_batches);
  for (int const members : counts) {
    if (members > 0)
      shape.hoist(members, hoisted(shape, members, levels(on_demand, live, members), peak));
  }
}

}  // namespace spillway
