#include "plan/trace/step_times.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace spillway {

namespace {

// Returns whether a step has not ended before the item has.
bool ends_step(Item const& item) {
  return item.lane == Lane::compute || item.lane == Lane::data || item.kind == ItemKind::commit ||
         item.kind == ItemKind::report;
}

// Moves everything behind what was left out to where it would be.
void make_room(StepTimes& step, Simulation const& simulation) {
  auto const& [begin_s, period_s, times] = simulation.repeat;
  if (times == 0) return;
  auto const left_out_s = simulation.repeat.left_out_s();
  auto const shown_s = begin_s + period_s;
  step.left_out = {shown_s, shown_s + left_out_s, times};
  std::size_t behind = 0;  // the first item after those that stand for the ones left out
  for (std::size_t i = 0; i < simulation.intervals.size(); ++i)
    if (simulation.intervals[i].times > 1) behind = i + 1;
  for (auto i = behind; i < step.items.size(); ++i) {
    step.items[i].start_s += left_out_s;
    step.items[i].end_s += left_out_s;
  }
}

// In a simulation, a lane runs its items one at a time: an item's turn comes when the one before it
// ends, which for the first one was the last one of the step before.
void set_turns(Program const& program, StepTimes& step) {
  PerLane<std::optional<double>> free_s;
  for (ItemTime const& time : step.items)
    free_s[program.items[time.item].lane] = time.end_s - step.step_s;
  for (ItemTime& time : step.items) {
    auto& lane_free_s = free_s[program.items[time.item].lane];
    time.ready_s = std::min(*lane_free_s, time.start_s);
    lane_free_s = time.end_s;
  }
}

}  // namespace

StepTimes predicted_times(Program const& program, Simulation const& simulation) {
  StepTimes step;
  step.step_s = simulation.step_s;
  for (auto const& interval : simulation.intervals)
    step.items.push_back({interval.item, 0, interval.start_s, interval.end_s});
  make_room(step, simulation);
  set_turns(program, step);
  double end_s = -std::numeric_limits<double>::infinity();
  for (ItemTime const& time : step.items)
    if (ends_step(program.items[time.item])) end_s = std::max(end_s, time.end_s);
  auto const begin_s = end_s - step.step_s;
  for (ItemTime& time : step.items) {
    time.ready_s -= begin_s;
    time.start_s -= begin_s;
    time.end_s -= begin_s;
  }
  step.left_out.begin_s -= begin_s;
  step.left_out.end_s -= begin_s;
  return step;
}

}  // namespace spillway
