#include <fmt/format.h>

#include "base/units.hpp"
#include "plan/explain_parts.hpp"
#include "plan/words.hpp"

namespace spillway {

namespace {

constexpr std::size_t kColumns = 100;
constexpr double kWorthALine = 0.001;  // of the step

std::string row(Lane lane, double seconds, double step_s) {
  return fmt::format("  {:<21} {:>8} {:>5}", words(lane), human_duration(seconds),
                     percent(seconds, step_s));
}

// Its longest kinds, as many as the line has room for.
std::string path_line(LaneShare const& lane, double step_s) {
  auto line = row(lane.lane, lane.seconds, step_s);
  std::string_view before = "  ";
  for (auto const& kind : lane.kinds) {
    auto const part = fmt::format("{}{} {}", before, kind.name, human_duration(kind.seconds));
    if (line.size() + part.size() > kColumns || kind.seconds < kWorthALine * step_s) break;
    line += part;
    before = ", ";
  }
  return line + "\n";
}

}  // namespace

std::string time_text(Simulation const& simulation, std::vector<LaneShare> const& path) {
  double const step_s = simulation.step_s;
  auto text = fmt::format(
      "\nWhere the {} go: the longest chain of work, each part of which waits for the one before\n",
      human_duration(step_s));
  for (LaneShare const& lane : path)
    if (lane.seconds >= kWorthALine * step_s) text += path_line(lane, step_s);
  text += "How long everything is busy in that time, on the chain or beside it\n";
  for (std::size_t i = 0; i < kLanes; ++i) {
    auto const lane = static_cast<Lane>(i);
    double const busy_s = simulation.busy_s[i];
    if (busy_s < kWorthALine * step_s || busy_s == 0) continue;
    bool const works = lane == Lane::compute || lane == Lane::host;
    text += row(lane, busy_s, step_s) +
            (works ? "" : fmt::format("  {} moved", human_bytes(simulation.bytes[i]))) + "\n";
  }
  return text;
}

}  // namespace spillway
