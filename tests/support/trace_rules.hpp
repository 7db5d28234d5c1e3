// What holds for every trace (docs/trace.md), however it came about.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/data/program.hpp"

namespace spillway::test {

using TraceEvents = std::vector<nlohmann::json>;

constexpr int kStepTrack = 10, kMeasuredProcess = 1, kPredictedProcess = 2;

// Returns the events of some phases, such as "X" or "sf".
inline TraceEvents of_phase(TraceEvents const& events, std::string const& phases) {
  TraceEvents result;
  std::ranges::copy_if(events, std::back_inserter(result), [&](auto const& event) {
    return phases.find(event.at("ph").template get<std::string>()) != phases.npos;
  });
  return result;
}

inline std::int64_t trace_ns(nlohmann::json const& event, char const* key) {
  return std::llround(1e3 * event.at(key).get<double>());
}
inline std::pair<int, int> track_of(nlohmann::json const& event) {
  return {event.at("pid").get<int>(), event.at("tid").get<int>()};
}
inline std::int64_t end_ns(nlohmann::json const& slice) {
  return trace_ns(slice, "ts") + trace_ns(slice, "dur");
}

using Tracks = std::map<std::pair<int, int>, TraceEvents>;

// Returns the slices of each track in the order of time. What lies within the slice of a step is
// left out.
inline Tracks tracks_of(TraceEvents const& events) {
  Tracks tracks;
  for (auto const& slice : of_phase(events, "X"))
    if (slice.at("cat") != "repeat") tracks[track_of(slice)].push_back(slice);
  for (auto& [track, slices] : tracks)
    std::ranges::stable_sort(slices, {}, [](auto const& s) { return trace_ns(s, "ts"); });
  return tracks;
}

// Returns the slices of one track, none if it is not there.
inline TraceEvents track_in(TraceEvents const& events, int process, int track) {
  auto tracks = tracks_of(events);
  return std::move(tracks[{process, track}]);
}

inline void expect_no_overlap(Tracks const& tracks) {
  for (auto const& [track, slices] : tracks)
    for (std::size_t i = 1; i < slices.size(); ++i)
      EXPECT_GE(trace_ns(slices[i], "ts"), end_ns(slices[i - 1])) << slices[i - 1] << "\n"
                                                                  << slices[i];
}

inline void expect_names(TraceEvents const& events, Tracks const& tracks) {
  std::map<std::pair<int, int>, std::set<std::string>> names;
  for (auto const& entry : of_phase(events, "M"))
    if (entry.at("name") == "thread_name") names[track_of(entry)].insert(entry["args"]["name"]);
  for (auto const& [track, slices] : tracks) {
    ASSERT_EQ(names[track].size(), 1u) << track.second;
    int const lane = track.second / 100 - 1;
    auto const name =
        track.second == kStepTrack ? "step" : std::string(word(static_cast<Lane>(lane)));
    EXPECT_TRUE(names[track].begin()->starts_with(name)) << track.second;
  }
}

// Each arrow has two ends, each of them in a slice, and goes forward in time.
inline void expect_arrows(TraceEvents const& events, Tracks const& tracks) {
  std::map<std::int64_t, TraceEvents> arrows;
  for (auto const& end : of_phase(events, "sf")) {
    arrows[end.at("id")].push_back(end);
    auto const found = tracks.find(track_of(end));
    ASSERT_NE(found, tracks.end()) << end;
    auto const at = trace_ns(end, "ts");
    EXPECT_TRUE(std::ranges::any_of(found->second, [&](auto const& slice) {
      auto const begin = trace_ns(slice, "ts");
      return end.at("ph") == "f" ? begin == at : begin <= at && at < end_ns(slice);
    })) << end;
  }
  for (auto const& [id, ends] : arrows) {
    ASSERT_EQ(ends.size(), 2u) << id;
    EXPECT_EQ(ends[0].at("ph"), "s");
    EXPECT_EQ(ends[1].at("ph"), "f");
    EXPECT_LE(trace_ns(ends[0], "ts"), trace_ns(ends[1], "ts")) << ends[0] << ends[1];
  }
}

inline TraceEvents trace_in(std::string const& text) {
  auto const json = nlohmann::json::parse(text, nullptr, false);
  EXPECT_TRUE(json.is_array()) << text.substr(0, 200);
  return json.is_array() ? json.get<TraceEvents>() : TraceEvents{};
}

inline void expect_trace_rules(TraceEvents const& events) {
  auto const tracks = tracks_of(events);
  expect_no_overlap(tracks);
  expect_names(events, tracks);
  expect_arrows(events, tracks);
}

// Returns how often each item was run, by its number, in the slices for which `is_wanted` is true.
template <class IsWanted>
std::map<int, std::int64_t> runs_of_items(TraceEvents const& events, IsWanted const& is_wanted) {
  std::map<int, std::int64_t> runs;
  for (auto const& slice : of_phase(events, "X"))
    if (slice.at("args").contains("item") && is_wanted(slice)) ++runs[slice["args"]["item"]];
  return runs;
}

// Returns how often a step runs each item.
inline std::map<int, std::int64_t> runs_of_step(Program const& program) {
  std::map<int, std::int64_t> runs;
  for (Segment const& segment : program.segments)
    for (auto item = segment.first; item < segment.last; ++item)
      if (auto const times = times_a_step(program, segment); times > 0) runs[item] = times;
  return runs;
}

// Returns the largest value of a counter of a process.
inline std::int64_t most_of(TraceEvents const& events, int process, std::string const& counter) {
  std::int64_t most = -1;
  for (auto const& event : of_phase(events, "C"))
    if (event.at("pid") == process && event.at("name") == counter)
      most = std::max(most, event.at("args").at("value").get<std::int64_t>());
  return most;
}

}  // namespace spillway::test
