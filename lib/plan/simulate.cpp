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

// Two steps without a barrier; the second is the steady state.
Simulation simulate(Program const& program, Machine const& machine) {
  auto const instances = unroll(program, segment_sequence(program), 2);
  auto const costs = item_costs(program, machine);
  auto const times = timeline_of(program, instances, costs).run(capacities(machine));
  std::array<double, 2> end_s{};  // of each step
  for (std::size_t i = 0; i < times.size(); ++i) {
    assert(times[i].end_s >= 0);  // waits point backwards
    auto& end = end_s[static_cast<std::size_t>(instances[i].step)];
    end = std::max(end, times[i].end_s);
  }
  Simulation result;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (instances[i].step == 0) continue;
    Item const& item = program.items[static_cast<std::size_t>(instances[i].item)];
    auto const& [start, end] = times[i];
    result.spans.push_back({item.number, start - end_s[0], end - end_s[0]});
    result.busy_s[index(item.lane)] += end - start;
    result.bytes[index(item.lane)] += written_bytes(item);
  }
  result.step_s = std::max(end_s[0], end_s[1]) - end_s[0];
  return result;
}

}  // namespace spillway
