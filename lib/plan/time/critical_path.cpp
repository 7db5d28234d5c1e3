#include "plan/time/critical_path.hpp"

#include <algorithm>
#include <functional>

#include "plan/data/words.hpp"

namespace spillway {

namespace {

using Interval = Simulation::Interval;

// Returns for each interval the one whose end let it begin; -1 means one in the step before.
IdVector<int> causes(Program const& program, IdVector<Interval> const& intervals) {
  IdVector<int> latest(program.items.size(), -1), result;
  PerLane<int> on_lane;
  on_lane.fill(-1);
  auto const end_s = [&](int at) { return at < 0 ? 0 : intervals[at].end_s; };
  for (int now = 0; Interval const& interval : intervals) {
    Item const& item = program.items[interval.item];
    int cause = on_lane[item.lane];
    for (ItemNumber const wait : item.waits) {
      int const awaited = latest[wait];
      if (awaited >= 0 && end_s(awaited) > end_s(cause)) cause = awaited;
    }
    result.push_back(cause);
    on_lane[item.lane] = latest[interval.item] = now++;
  }
  return result;
}

std::string kind_of(Program const& program, Item const& item) {
  if (item.kind == ItemKind::op) return std::string(name(program.ops[item.op].kind));
  if (!concerns_tensor(item.kind)) return std::string(name(item.kind));
  return std::string(name(moved_content(program, item)));
}

// The simulation runs a repeated period once. Returns how long what happens in [start_s, end_s)
// takes in the other repetitions: its overlap with the period, as often as they happen.
double repeated_s(Simulation::Repeat const& repeat, double start_s, double end_s) {
  if (repeat.times == 0) return 0;
  auto const first_s = std::max(start_s, repeat.begin_s);
  auto const last_s = std::min(end_s, repeat.begin_s + repeat.period_s);
  return static_cast<double>(repeat.times) * std::max(0.0, last_s - first_s);
}

template <class Row>
void longest_first(std::vector<Row>& rows) {
  std::ranges::stable_sort(rows, std::greater<>{}, &Row::seconds);
}

}  // namespace

std::vector<PathPart> critical_path(Program const& program, Simulation const& simulation) {
  auto const& intervals = simulation.intervals;
  if (intervals.empty()) return {};
  auto const cause = causes(program, intervals);
  auto at = std::ranges::max_element(intervals, {}, &Interval::end_s) - intervals.begin();
  std::vector<PathPart> path;
  // The chain is followed backwards to time 0, at which the simulated step begins.
  double const end_s = simulation.step_s - simulation.repeat.left_out_s();
  for (double until_s = end_s; at >= 0 && until_s > 0;) {
    Interval const& interval = intervals[at];
    double const from_s = std::max(0.0, interval.start_s);
    if (from_s < until_s)
      path.push_back(
          {interval.item, from_s, until_s, repeated_s(simulation.repeat, from_s, until_s)});
    until_s = from_s;
    at = cause[at];
  }
  std::ranges::reverse(path);
  return path;
}

std::vector<LaneShare> shares(Program const& program, std::vector<PathPart> const& path) {
  std::vector<LaneShare> lanes;
  for (PathPart const& part : path) {
    Item const& item = program.items[part.item];
    auto lane = std::ranges::find(lanes, item.lane, &LaneShare::lane);
    if (lane == lanes.end()) lane = lanes.insert(lane, {item.lane, 0, {}});
    auto const what = kind_of(program, item);
    auto kind = std::ranges::find(lane->kinds, what, &LaneShare::Kind::name);
    if (kind == lane->kinds.end()) kind = lane->kinds.insert(kind, {what, 0});
    kind->seconds += part.seconds();
    lane->seconds += part.seconds();
  }
  for (LaneShare& lane : lanes) longest_first(lane.kinds);
  longest_first(lanes);
  return lanes;
}

}  // namespace spillway
