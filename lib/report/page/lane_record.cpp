#include "report/page/lane_record.hpp"

#include <algorithm>
#include <cmath>

#include "plan/data/words.hpp"

namespace spillway {
namespace {

using Lanes = std::vector<std::pair<std::string, std::vector<LanePiece>>>;

constexpr double kUnits = 1e6;  // times are whole millionths of a step

constexpr std::string_view group_of(Phase phase) {
  constexpr std::string_view names[] = {"forward", "backward", "norm", "update"};
  return names[static_cast<std::size_t>(phase)];
}

// A KindOf says what items do that it is told in the order in which a step runs them.
class KindOf {
 public:
  explicit KindOf(Program const& program) : m_program(program) {}

  LaneKind operator()(Item const& item) {
    enter_segment_of(item);
    auto const word = std::string(name(item.kind));
    if (item.kind == ItemKind::op) return of_op(m_program.ops[item.op]);
    if (!concerns_tensor(item.kind)) return {word, "other"};
    return {word, std::string(name(moved_content(m_program, item)))};
  }

 private:
  LaneKind of_op(Op const& op) {
    m_is_backward = m_is_backward || op.phase == Phase::backward;
    auto const group =
        op.phase == Phase::forward && m_is_backward ? kComputedAgain : group_of(op.phase);
    return {std::string(name(op.kind)), std::string(group)};
  }
  // Each run of a segment begins with a forward pass.
  void enter_segment_of(Item const& item) {
    if (item.number <= m_last || item.number >= m_segment_end) {
      m_is_backward = false;
      for (Segment const& segment : m_program.segments)
        if (segment.first <= item.number && item.number < segment.last)
          m_segment_end = segment.last;
    }
    m_last = item.number;
  }

  Program const& m_program;
  bool m_is_backward = false;
  ItemNumber m_last = -1, m_segment_end = 0;
};

std::size_t count(Lanes const& lanes) {
  std::size_t sum = 0;
  for (auto const& [name, pieces] : lanes) sum += pieces.size();
  return sum;
}

PageJson columns(std::string const& lane, std::vector<LanePiece> const& pieces, double step_s) {
  auto const units = [&](double seconds) { return std::llround(seconds / step_s * kUnits); };
  PageJson json = {{"lane", lane}};
  for (auto const* key : {"gap", "length", "kind", "block", "item", "items"})
    json[key] = PageJson::array();
  std::int64_t before = 0;
  for (LanePiece const& piece : pieces) {
    auto const start = units(piece.start_s), end = units(piece.end_s);
    json["gap"].push_back(start - before);
    json["length"].push_back(end - start);
    json["kind"].push_back(piece.kind);
    json["block"].push_back(piece.block);
    json["item"].push_back(piece.item);
    json["items"].push_back(piece.items);
    before = end;
  }
  return json;
}

}  // namespace

void StepLanes::add(std::string const& lane, LaneKind const& kind, LanePiece piece) {
  auto const [place, is_new] = m_numbers.try_emplace(kind, m_kinds.size());
  if (is_new) m_kinds.push_back(kind);
  piece.kind = place->second;
  piece.longest_s = piece.end_s - piece.start_s;
  auto found = std::ranges::find(m_lanes, lane, &Lanes::value_type::first);
  if (found == m_lanes.end()) found = m_lanes.insert(found, {lane, {}});
  found->second.push_back(piece);
}

std::vector<LanePiece> merged(std::vector<LanePiece> const& pieces, double resolution_s) {
  std::vector<LanePiece> result;
  for (LanePiece const& piece : pieces) {
    if (result.empty() || piece.end_s - result.back().start_s >= resolution_s) {
      result.push_back(piece);
      continue;
    }
    LanePiece& last = result.back();
    last.end_s = std::max(last.end_s, piece.end_s);
    last.items += piece.items;
    if (piece.longest_s <= last.longest_s) continue;
    last.longest_s = piece.longest_s;
    last.kind = piece.kind;
    last.block = piece.block;
  }
  return result;
}

PageJson StepLanes::to_json(std::size_t most) const {
  auto lanes = m_lanes;
  for (auto& [name, pieces] : lanes) std::ranges::stable_sort(pieces, {}, &LanePiece::start_s);
  double resolution_s = 0;
  for (double next_s = step_s / 16'384; step_s > 0 && count(lanes) > most; next_s *= 2) {
    resolution_s = next_s;
    for (auto& [name, pieces] : lanes) pieces = merged(pieces, resolution_s);
  }
  PageJson json = {
      {"step_s", step_s},
      {"resolution_s", resolution_s},
      {"left_out",
       {{"begin_s", repeat.begin_s}, {"period_s", repeat.period_s}, {"times", repeat.times}}},
      {"blocks", blocks},
      {"kinds", PageJson::array()},
      {"lanes", PageJson::array()}};
  for (LaneKind const& kind : m_kinds)
    json["kinds"].push_back({{"name", kind.name}, {"group", kind.group}});
  if (step_s <= 0) return json;
  for (auto const& [name, pieces] : lanes) json["lanes"].push_back(columns(name, pieces, step_s));
  return json;
}

StepLanes lanes_of(Program const& program, Simulation const& simulation) {
  StepLanes lanes;
  lanes.step_s = simulation.step_s;
  lanes.repeat = simulation.repeat;
  KindOf kind_of(program);
  for (auto const& interval : simulation.intervals) {
    Item const& item = program.items[interval.item];
    lanes.add(std::string(name(item.lane)), kind_of(item),
              {interval.start_s, interval.end_s, 0, item.block, item.number});
  }
  return lanes;
}

}  // namespace spillway
