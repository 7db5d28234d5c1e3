#include "train/predicted_step.hpp"

#include <limits>
#include <optional>
#include <vector>

namespace spillway {
namespace {

constexpr double kNever_s = -std::numeric_limits<double>::infinity();

// Knows when each item ended last, in this step or in the one before.
class Ends {
 public:
  Ends(Program const& program, Simulation const& simulation)
      : m_program(program), m_end_s(program.items.size(), kNever_s) {
    double const period_s = simulation.step_s - simulation.repeat.left_out_s();
    for (auto const& interval : simulation.intervals) at(interval.item) = interval.end_s - period_s;
  }

  double& at(ItemNumber item) { return m_end_s[static_cast<std::size_t>(item)]; }

  // Returns the lane of the item that ended last among those that `item` waits for.
  std::optional<Lane> last_awaited(Item const& item) {
    std::optional<Lane> lane;
    double latest_s = kNever_s;
    for (auto const wait : item.waits) {
      if (at(wait) <= latest_s) continue;
      latest_s = at(wait);
      lane = m_program.items[wait].lane;
    }
    return lane;
  }

 private:
  Program const& m_program;
  std::vector<double> m_end_s;
};

}  // namespace

TrainingTimes predicted_step(Program const& program, Simulation const& simulation) {
  TrainingTimes times{.whole_s = simulation.step_s};
  Ends ends(program, simulation);
  double compute_end_s = 0;
  for (auto const& interval : simulation.intervals)
    if (program.items[interval.item].lane == Lane::compute) compute_end_s = interval.end_s;
  // The compute lane ended the step before one period earlier.
  compute_end_s -= simulation.step_s - simulation.repeat.left_out_s();
  for (auto const& interval : simulation.intervals) {
    auto const& item = program.items[interval.item];
    auto const repeats = static_cast<double>(interval.times);
    if (item.lane == Lane::compute) {
      times.work_s[index(work_part(program, item))] +=
          repeats * (interval.end_s - interval.start_s);
      auto const lane = ends.last_awaited(item);
      if (lane && interval.start_s > compute_end_s)
        times.waits_s[index(*lane)] += repeats * (interval.start_s - compute_end_s);
      compute_end_s = interval.end_s;
    }
    ends.at(interval.item) = interval.end_s;
  }
  return times;
}

}  // namespace spillway
