#include <algorithm>
#include <cassert>

#include "plan/passes.hpp"
#include "plan/timeline.hpp"
#include "plan/unroll.hpp"

namespace spillway {

namespace {

// A job for every instance, which waits for the latest instances of what its item waits for.
Timeline timeline_of(Program const& program, std::vector<Instance> const& instances,
                     std::vector<ItemCost> const& costs) {
  Timeline timeline;
  std::vector<int> latest(program.items.size(), -1), waits;
  for (Instance const& now : instances) {
    auto const number = static_cast<std::size_t>(now.item);
    Item const& item = program.items[number];
    waits.clear();
    for (ItemNumber const wait : item.waits) {
      int const awaited = latest[static_cast<std::size_t>(wait)];
      if (awaited >= 0) waits.push_back(awaited);
    }
    latest[number] = timeline.add(item.lane, costs[number], waits);
  }
  return timeline;
}

}  // namespace

// Two steps without a barrier; the second is the steady state. What runs once has but one.
Simulation simulate(Program const& program, Machine const& machine) {
  int const steady = program.once ? 0 : 1;
  auto const instances = unroll(program, segment_sequence(program), steady + 1);
  auto const costs = item_costs(program, machine);
  auto const times = timeline_of(program, instances, costs).run(capacities(machine));
  std::array<double, 2> end_s{};  // of each step
  for (std::size_t i = 0; i < times.size(); ++i) {
    assert(times[i].end_s >= 0);  // waits point backwards
    auto& end = end_s[static_cast<std::size_t>(instances[i].step)];
    end = std::max(end, times[i].end_s);
  }
  double const begin_s = steady == 0 ? 0 : end_s[0];
  Simulation result;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (instances[i].step < steady) continue;
    Item const& item = program.items[static_cast<std::size_t>(instances[i].item)];
    auto const& [start, end] = times[i];
    result.spans.push_back({item.number, start - begin_s, end - begin_s});
    result.busy_s[index(item.lane)] += end - start;
    result.bytes[index(item.lane)] += written_bytes(item);
  }
  result.step_s = std::max(end_s[0], end_s[1]) - begin_s;
  return result;
}

}  // namespace spillway
