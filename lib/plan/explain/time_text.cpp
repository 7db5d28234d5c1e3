#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "plan/explain/explain.hpp"

namespace spillway {

namespace {

constexpr double kWorthALine = 0.001;  // smaller shares of a step are not shown

std::string row(Lane lane, double seconds, double step_s) {
  return fmt::format("  {:<22} {:>8} {:>5}", words(lane), human_duration(seconds),
                     percent(seconds, step_s));
}

// Returns a line with the time that the critical path spends on a lane, and with the kinds of op or
// data that take most of this time, as many as fit on the line.
std::string path_line(LaneShare const& lane, double step_s) {
  auto line = row(lane.lane, lane.seconds, step_s);
  std::string_view before = "  ";
  for (auto const& kind : lane.kinds) {
    auto const part = fmt::format("{}{} {}", before, kind.name, human_duration(kind.seconds));
    if (line.size() + part.size() > kPageColumns || kind.seconds < kWorthALine * step_s) break;
    line += part;
    before = ", ";
  }
  return line + "\n";
}

using ContentBytes = EnumArray<Content, std::int64_t, kContents>;

// Returns for each kind of data how many bytes a step moves on a lane.
ContentBytes moved_bytes(Program const& program, Simulation const& simulation, Lane lane) {
  ContentBytes bytes{};
  for (auto const& interval : simulation.intervals) {
    Item const& item = program.items[interval.item];
    if (item.lane == lane)
      bytes[moved_content(program, item)] += interval.times * written_bytes(item);
  }
  return bytes;
}

// Returns a text with as many kinds of data as fit into `room`, such as "  48.1 GiB: parameters
// 36.8 GiB, activations 11.3 GiB".
std::string moved_text(ContentBytes const& bytes, std::size_t room) {
  auto const sum = std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
  std::vector<int> contents(kContents);
  std::iota(contents.begin(), contents.end(), 0);
  std::ranges::stable_sort(contents, std::greater<>{}, [&](int c) { return bytes[c]; });
  constexpr std::string_view others = " ...";
  auto text = "  " + human_bytes(sum);
  std::string_view before = ": ";
  for (int const content : contents) {
    if (bytes[content] == 0 || bytes[content] < sum / 100) break;
    auto const part = fmt::format("{}{} {}", before, name(static_cast<Content>(content)),
                                  human_bytes(bytes[content]));
    if (text.size() + part.size() + others.size() > room) return text.append(others);
    text += part;
    before = ", ";
  }
  return text;
}

}  // namespace

std::string time_text(Program const& program, Simulation const& simulation,
                      std::vector<LaneShare> const& path) {
  double const step_s = simulation.step_s;
  auto text =
      fmt::format("\nWhere the {} go: the longest chain of work, each part after the one before\n",
                  human_duration(step_s));
  for (LaneShare const& lane : path)
    if (lane.seconds >= kWorthALine * step_s) text += path_line(lane, step_s);
  text += "How long everything is busy in that time, on the chain or not, and what it moves\n";
  for (Lane const lane : kLanesInOrder) {
    double const busy_s = simulation.busy_s[lane];
    if (busy_s < kWorthALine * step_s || busy_s == 0) continue;
    bool const works = lane == Lane::compute || lane == Lane::host;
    auto line = row(lane, busy_s, step_s);
    if (!works)
      line += moved_text(moved_bytes(program, simulation, lane), kPageColumns - line.size());
    text += line + "\n";
  }
  return text;
}

}  // namespace spillway
