#include "plan/time/critical_path.hpp"

#include <algorithm>
#include <array>

#include "plan/data/content.hpp"

namespace spillway {

namespace {

using Span = Simulation::Span;

// Per span, in the order of items: the span that let it begin; -1: one of the step before.
std::vector<int> causes(Program const& program, std::vector<Span> const& spans) {
  std::vector<int> latest(program.items.size(), -1), result;
  PerLane<int> on_lane;
  on_lane.fill(-1);
  for (int now = 0; Span const& span : spans) {
    Item const& item = program.items[span.item];
    int cause = on_lane[item.lane];
    auto const end_s = [&](int at) { return at < 0 ? 0 : spans[at].end_s; };
    for (ItemNumber const wait : item.waits) {
      int const awaited = latest[wait];
      if (awaited >= 0 && end_s(awaited) > end_s(cause)) cause = awaited;
    }
    result.push_back(cause);
    on_lane[item.lane] = latest[span.item] = now++;
  }
  return result;
}

std::string kind_of(Program const& program, Item const& item) {
  if (item.kind == ItemKind::op) return std::string(name(program.ops[item.op].kind));
  for (auto const kind : {ItemKind::load_batch, ItemKind::commit, ItemKind::report}) {
    if (item.kind == kind) return std::string(name(kind));
  }
  return std::string(name(moved_content(program, item)));
}

// What of [start_s, end_s) is repeated, as often as it is.
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
  auto const& spans = simulation.spans;
  if (spans.empty()) return {};
  auto const cause = causes(program, spans);
  auto at = static_cast<int>(std::ranges::max_element(spans, {}, &Span::end_s) - spans.begin());
  std::vector<PathPart> path;
  // What began before this step did was let begin by the one before.
  double const end_s = simulation.step_s - simulation.repeat.left_out_s();
  for (double until_s = end_s; at >= 0 && until_s > 0;) {
    Span const& span = spans[at];
    double const from_s = std::max(0.0, span.start_s);
    if (from_s < until_s)
      path.push_back({span.item, from_s, until_s, repeated_s(simulation.repeat, from_s, until_s)});
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
