#include "report/page/trace_lanes.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "report/page/lane_record.hpp"

namespace spillway {
namespace {

// These are numbers and names in the format of the trace.
constexpr int kMeasured = 1, kPredicted = 2, kStepTrack = 10, kTracksOfLane = 100;

struct Slice {
  int track = 0;
  double start_s = 0, end_s = 0;
  std::string name, kind, phase;
  int block = -1;
  std::int64_t item = -1, micro_batch = -1;
};

// A TracedStep holds one step of one process of the trace, measured or predicted.
struct TracedStep {
  double start_s = 0, step_s = 0;
  // By number of the micro-batch and of the item: a step that was traced again has its later
  // slices.
  std::map<std::pair<std::int64_t, std::int64_t>, Slice> slices;
  std::optional<Slice> repeat;
  std::int64_t times = 0;
};
using Steps = std::map<std::int64_t, TracedStep>;

template <class T>
T value_or(PageJson const& json, char const* key, T fallback) {
  auto const found = json.find(key);
  if (found == json.end()) return fallback;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->get<T>() : fallback;
  } else {
    return found->is_number() ? found->get<T>() : fallback;
  }
}

std::optional<PageJson> event_in(std::string_view line) {
  while (!line.empty() && (line.back() == ',' || line.back() == '\r')) line.remove_suffix(1);
  auto event = PageJson::parse(line, nullptr, false);
  if (!event.is_object()) return {};
  if (!event.contains("args") || !event.at("args").is_object()) event["args"] = PageJson::object();
  return event;
}

Slice slice_of(PageJson const& event) {
  auto const& args = event.at("args");
  Slice slice;
  slice.track = value_or(event, "tid", 0);
  slice.start_s = 1e-6 * value_or(event, "ts", 0.0);
  slice.end_s = slice.start_s + 1e-6 * value_or(event, "dur", 0.0);
  slice.name = value_or(event, "name", std::string());
  slice.kind = value_or(event, "cat", std::string());
  slice.phase = value_or(args, "phase", std::string());
  slice.block = value_or(args, "block", -1);
  slice.item = value_or(args, "item", std::int64_t{-1});
  slice.micro_batch = value_or(args, "micro_batch", std::int64_t{-1});
  return slice;
}

// A repeat follows the step that it is a part of.
void add_to_step(Steps& steps, PageJson const& event, std::int64_t& latest) {
  auto const slice = slice_of(event);
  auto const& args = event.at("args");
  if (slice.kind == "repeat") {
    steps[latest].repeat = slice;
    steps[latest].times = value_or(args, "times", std::int64_t{0});
    return;
  }
  latest = value_or(args, "step", std::int64_t{-1});
  auto& step = steps[latest];
  step.start_s = slice.start_s;
  step.step_s = value_or(args, "step_s", slice.end_s - slice.start_s);
}

// Returns whether one of the parts of a name such as "h.3.m.slice" is `part`, but not the first.
bool has_part(std::string const& name, std::string const& part) {
  return (name + '.').find('.' + part + '.') != name.npos;
}

// Returns what an item moves, by the name of the tensor: activations are called after their op.
std::string content_of(std::string const& name) {
  constexpr std::pair<char const*, char const*> words[] = {
      {"parameter", "parameters"},      {"gradient", "gradients"}, {"received", "gradients"},
      {"remainder", "optimizer state"}, {"m", "optimizer state"},  {"v", "optimizer state"}};
  for (auto const& [part, content] : words)
    if (has_part(name, part)) return content;
  return name.find('/') != name.npos ? "activations" : "batch and scalars";
}

LaneKind kind_of(Slice const& slice, bool is_backward) {
  auto const word = slice.name.substr(0, slice.name.find(' '));
  if (slice.kind == "op")
    return {word,
            slice.phase == "forward" && is_backward ? std::string(kComputedAgain) : slice.phase};
  bool const moves = slice.kind.starts_with("copy") || slice.kind.starts_with("all_");
  return {word, moves ? content_of(slice.name) : "other"};
}

std::string lane_of(int track) {
  constexpr std::string_view names[] = {"",           "compute", "h2d",  "d2h", "nvme_read",
                                        "nvme_write", "comm",    "host", "data"};
  auto const lane = static_cast<std::size_t>(track / kTracksOfLane);
  auto const name = lane < std::size(names) ? std::string(names[lane]) : "";
  return track % kTracksOfLane == 0 ? name : name + ' ' + std::to_string(track % kTracksOfLane + 1);
}

PageJson lanes_json(TracedStep const& step, std::size_t most_pieces) {
  StepLanes lanes;
  lanes.step_s = step.step_s;
  if (step.repeat)
    lanes.repeat = {step.repeat->start_s - step.start_s, step.repeat->end_s - step.repeat->start_s,
                    step.times};
  std::int64_t micro_batch = -1;
  bool is_backward = false;
  for (auto const& [key, slice] : step.slices) {
    is_backward = slice.phase == "backward" || (is_backward && key.first == micro_batch);
    micro_batch = key.first;
    lanes.add(
        lane_of(slice.track), kind_of(slice, is_backward),
        {slice.start_s - step.start_s, slice.end_s - step.start_s, 0, slice.block, slice.item});
  }
  return lanes.to_json(most_pieces);
}

}  // namespace

PageJson trace_lanes(std::istream& lines, std::size_t most_steps, std::size_t most_pieces) {
  std::map<int, Steps> processes;
  std::map<int, std::int64_t> latest;
  for (std::string line; std::getline(lines, line);) {
    auto const event = event_in(line);
    if (!event || value_or(*event, "ph", std::string()) != "X") continue;
    auto const process = value_or(*event, "pid", 0);
    auto& steps = processes[process];
    if (value_or(*event, "tid", 0) == kStepTrack) {
      add_to_step(steps, *event, latest[process]);
    } else {
      auto const slice = slice_of(*event);
      auto& step = steps[value_or(event->at("args"), "step", std::int64_t{-1})];
      step.slices[{slice.micro_batch, slice.item}] = slice;
    }
    // A step may still be without its own slice, so one more than asked for is kept.
    while (steps.size() > most_steps + 1) steps.erase(steps.begin());
  }
  auto& measured = processes[kMeasured];
  std::erase_if(measured, [](auto const& step) { return step.second.step_s <= 0; });
  while (measured.size() > most_steps) measured.erase(measured.begin());
  PageJson json = PageJson::array();
  for (auto const& [number, step] : measured) {
    PageJson one = {{"step", number}, {"measured", lanes_json(step, most_pieces)}};
    auto const predicted = processes[kPredicted].find(number);
    if (predicted != processes[kPredicted].end())
      one["predicted"] = lanes_json(predicted->second, most_pieces);
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace spillway
