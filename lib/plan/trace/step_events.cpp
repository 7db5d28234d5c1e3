#include "plan/trace/step_events.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/compact_json.hpp"

namespace spillway {

namespace {

using Json = nlohmann::ordered_json;

// The numbers of tracks. Perfetto takes 0 for the idle thread.
constexpr int kStepTrack = 10, kTracksOfLane = 100;

int track(Lane lane, int row) {
  return kTracksOfLane * (static_cast<int>(lane) + 1) + row;
}

// Traces count in microseconds.
double us(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

void put(Json const& event, TraceSink const& sink) {
  sink(compact_json(event));
}

Json event(char const* phase, int process, int track, std::int64_t ns) {
  return {{"ph", phase}, {"pid", process}, {"tid", track}, {"ts", us(ns)}};
}

// A slice is told a nanosecond shorter than it is, so that neighbours do not overlap where a reader
// rounds both.
Json slice_event(int process, int track, std::int64_t start_ns, std::int64_t end_ns) {
  auto slice = event("X", process, track, start_ns);
  slice["dur"] = us(std::max<std::int64_t>(0, end_ns - start_ns - 1));
  return slice;
}

}  // namespace

StepEvents::StepEvents(Program const& program, TraceProcess process, std::int64_t& flows)
    : m_program(program), m_process(std::move(process)), m_flows(flows), m_counters(program) {}

std::int64_t StepEvents::at(double seconds) const {
  return m_begin_ns + std::llround(1e9 * seconds);
}

bool StepEvents::has_room(StepTimes const& times, std::int64_t begin_ns) const {
  if (begin_ns < m_step_end_ns) return false;
  return std::ranges::all_of(times.items, [&](ItemTime const& time) {
    auto const free_ns = m_rows.free_ns(m_program.items[time.item].lane);
    return begin_ns + std::llround(1e9 * time.start_s) >= free_ns;
  });
}

void StepEvents::write(StepHead const& head, StepTimes const& times, std::int64_t begin_ns,
                       bool follows, TraceSink const& sink) {
  m_begin_ns = begin_ns;
  m_step_end_ns = at(times.step_s);
  m_end_ns = std::max(m_end_ns, m_step_end_ns);
  if (!follows) m_latest.assign(m_program.items.size(), {});
  write_step(head, times, sink);
  write_items(head, times, sink);
  write_names(sink);
}

void StepEvents::write_step(StepHead const& head, StepTimes const& times, TraceSink const& sink) {
  auto step = slice_event(m_process.number, kStepTrack, m_begin_ns, m_step_end_ns);
  step["name"] = head.number ? fmt::format("step {}", *head.number) : "step";
  step["cat"] = "step";
  auto& args = step["args"];
  if (head.number) args["step"] = *head.number;
  args["step_s"] = times.step_s;
  if (head.unix_s) args["unix_s"] = *head.unix_s;
  if (!head.word.empty()) args["word"] = head.word;
  put(step, sink);
  auto const& [begin_s, end_s, left_out] = times.left_out;
  if (left_out == 0) return;
  // Its end may not pass that of the step, within which it lies.
  auto repeat = slice_event(m_process.number, kStepTrack, std::max(m_begin_ns, at(begin_s)),
                            std::min(m_step_end_ns, at(end_s)) - 1);
  repeat["name"] = fmt::format("{} times more", left_out);
  repeat["cat"] = "repeat";
  repeat["args"] = {{"times", left_out}};
  put(repeat, sink);
}

void StepEvents::write_items(StepHead const& head, StepTimes const& times, TraceSink const& sink) {
  SegmentWalk walk(m_program);
  std::vector<Arrow> arrows;
  std::int64_t compute_ns = m_begin_ns;
  m_counters.begin_step();
  for (ItemTime const& time : times.items) {
    Item const& item = m_program.items[time.item];
    walk.pass(item);
    m_counters.pass(item.number);
    auto const slice = m_rows.take(item.lane, at(time.start_s), at(time.end_s));
    m_end_ns = std::max(m_end_ns, slice.end_ns);
    write_item(head, walk, item, time.start_s - time.ready_s, slice, sink);
    if (auto const arrow = awaited(item, at(time.ready_s), slice)) arrows.push_back(*arrow);
    m_latest[item.number] = slice;
    if (item.lane != Lane::compute) continue;
    write_counters(slice.start_ns, sink);
    compute_ns = slice.end_ns;
  }
  write_counters(compute_ns, sink);
  // Readers find the slice of an arrow's end among those that they have read.
  for (Arrow const& arrow : arrows) write_arrow(arrow, sink);
}

void StepEvents::write_item(StepHead const& head, SegmentWalk const& walk, Item const& item,
                            double waited_s, TrackSlice const& slice, TraceSink const& sink) const {
  auto event =
      slice_event(m_process.number, track(slice.lane, slice.row), slice.start_ns, slice.end_ns);
  event["name"] = what(m_program, item);
  event["cat"] = name(item.kind);
  auto& args = event["args"];
  args["item"] = item.number;
  if (head.number) args["step"] = *head.number;
  args["segment"] = walk.segment().name;
  if (auto const micro_batch = walk.micro_batch()) args["micro_batch"] = *micro_batch;
  if (item.kind == ItemKind::op) {
    Op const& op = m_program.ops[item.op];
    args["op"] = name(op.kind);
    args["phase"] = word(op.phase);
  } else {
    args["bytes"] = written_bytes(item);
  }
  if (item.block >= 0) args["block"] = item.block;
  auto const waited_ns = std::llround(1e9 * waited_s);
  if (waited_ns > 0) args["wait_us"] = us(waited_ns);
  put(event, sink);
}

// Of the items that ended after this one had its turn, the last one let it begin.
std::optional<StepEvents::Arrow> StepEvents::awaited(Item const& item, std::int64_t ready_ns,
                                                     TrackSlice const& slice) const {
  // A reader that rounds must still find the slices.
  constexpr std::int64_t shortest_ns = 10;
  TrackSlice last;
  last.end_ns = ready_ns;
  for (ItemNumber const wait : item.waits) {
    TrackSlice const& awaited = m_latest[wait];
    if (awaited.row >= 0 && awaited.end_ns > last.end_ns) last = awaited;
  }
  bool const is_drawn = last.row >= 0 && last.length_ns() >= shortest_ns &&
                        slice.length_ns() >= shortest_ns && last.start_ns < slice.start_ns;
  if (!is_drawn) return {};
  return Arrow{last, slice};
}

void StepEvents::write_arrow(Arrow const& arrow, TraceSink const& sink) {
  auto const end = [&](char const* phase, TrackSlice const& slice, std::int64_t ns) {
    auto flow = event(phase, m_process.number, track(slice.lane, slice.row), ns);
    flow["name"] = "wait";
    flow["cat"] = "wait";
    flow["id"] = m_flows;
    if (*phase == 'f') flow["bp"] = "e";
    put(flow, sink);
  };
  ++m_flows;
  auto const last_ns = std::min(arrow.from.end_ns, arrow.to.start_ns);
  end("s", arrow.from, arrow.from.start_ns + (last_ns - arrow.from.start_ns) / 2);
  end("f", arrow.to, arrow.to.start_ns);
}

void StepEvents::write_counters(std::int64_t at_ns, TraceSink const& sink) {
  m_counters.tell([&](Tier tier, std::int64_t bytes) {
    auto counter = event("C", m_process.number, kStepTrack, at_ns);
    counter["name"] = fmt::format("{} bytes", name(tier));
    counter["args"] = {{"value", bytes}};
    put(counter, sink);
  });
}

void StepEvents::write_names(TraceSink const& sink) const {
  auto const tell = [&](std::string const& of, int track, std::string const& text, int order) {
    auto entry = event("M", m_process.number, track, 0);
    entry["name"] = of + "_name";
    entry["args"] = {{"name", text}};
    put(entry, sink);
    entry["name"] = of + "_sort_index";
    entry["args"] = {{"sort_index", order}};
    put(entry, sink);
  };
  tell("process", kStepTrack, m_process.name, m_process.number);
  tell("thread", kStepTrack, "step", kStepTrack);
  for (Lane const lane : kLanesInOrder) {
    for (int row = 0; row < static_cast<int>(m_rows.count(lane)); ++row) {
      auto const text =
          row == 0 ? std::string(name(lane)) : fmt::format("{} {}", name(lane), row + 1);
      tell("thread", track(lane, row), text, track(lane, row));
    }
  }
}

}  // namespace spillway
