#include "plan/schedule/reloads.hpp"

#include <algorithm>

#include "plan/memory/lifetime.hpp"

namespace spillway {

namespace {

// Returns for each backward op the most bytes that are in use at a time, in any segment, from the
// beginning of the op to the beginning of the next one.
IdVector<std::int64_t> levels(Draft const& draft, std::vector<std::int64_t> const& live) {
  IdVector<std::int64_t> result;
  auto segment = draft.program.segments.begin();
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

Reloads hoist_reloads(GraphShape const& shape, Draft const& on_demand) {
  Program const& program = on_demand.program;
  auto const live = live_bytes(program, lifetimes(program), Tier::device);
  auto const peak = *std::max_element(live.begin(), live.end());
  auto level = levels(on_demand, live);
  IdVector<int> ops, begins;  // `ops` lists backward ops; group g begins at ops[begins[g]]
  Reloads result(shape.reloads().size());
  for (int group = 0; group < shape.groups(); ++group) {
    auto const& own = shape.backward_ops(group);
    begins.push_back(static_cast<int>(ops.size()));
    ops.insert(ops.end(), own.begin(), own.end());
    int const earliest = begins[std::max(0, group - shape.plan().prefetch)];
    for (TensorId const tensor : shape.reloads()[own.front()]) {
      auto const bytes = footprint_bytes(shape.fates().away_bytes[tensor], Tier::device);
      int place = begins.back();
      while (place > earliest && level[place - 1] + bytes <= peak) level[--place] += bytes;
      result[ops[place]].push_back(tensor);
    }
  }
  return result;
}

}  // namespace spillway
