#include "plan/time/simulate.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>

#include "plan/proof/unroll.hpp"
#include "plan/time/timeline.hpp"

namespace spillway {

namespace {

// Limits how many runs of the segment `middle` are simulated for a long step, each of the
// micro-batches that walk together. The simulation begins with the fewest and doubles their number
// until their times repeat.
constexpr std::int64_t kFewestMiddles = 8, kMostMiddles = 64;
constexpr int kLongestPeriod = 4;     // times may repeat after at most this many runs
constexpr double kAlikeTimes = 1e-9;  // differences below this share of a period do not count

// Makes a job for every instance. A job waits for the latest instance of each item in `waits`.
Timeline timeline_of(Program const& program, std::vector<Instance> const& instances,
                     IdVector<ItemCost> const& costs) {
  Timeline timeline;
  IdVector<int> latest(program.items.size(), -1), waits;
  for (Instance const& now : instances) {
    Item const& item = program.items[now.item];
    waits.clear();
    for (ItemNumber const wait : item.waits) {
      int const awaited = latest[wait];
      if (awaited >= 0) waits.push_back(awaited);
    }
    latest[now.item] = timeline.add(item.lane, costs[now.item], waits);
  }
  return timeline;
}

// A StepWalk simulates three steps without a barrier between them, of which the second is in the
// steady state: an earlier step leaves work to it, and a later one is at work beside its end. A
// program that runs once has only one step.
class StepWalk {
 public:
  StepWalk(Program const& program, Machine const& machine, std::int64_t middles)
      : m_program(program),
        m_steady(program.once ? 0 : 1),
        m_middles(static_cast<int>(middles)),
        m_instances(unroll(program, segment_sequence(program, middles), steps())),
        m_times(timeline_of(program, m_instances, item_costs(program, machine))
                    .run(capacities(machine))) {
    for (int i = 0; Instance const& now : m_instances) {
      double const end_s = m_times[i++].end_s;
      assert(end_s >= 0);  // jobs wait only for earlier ones, so all have ended
      m_end_s[now.step] = std::max(m_end_s[now.step], end_s);
    }
    for (int step = 1; step < steps(); ++step)
      m_end_s[step] = std::max(m_end_s[step], m_end_s[step - 1]);
    for (Segment const& segment : program.segments)
      if (segment.is_middle()) m_middle = segment;
  }

  // Returns a number of runs of `middle` after which all times repeat, later by the same amount, in
  // all steps and in the second half of the simulated runs. All further runs then repeat in the
  // same way, because items begin under the same conditions again.
  std::optional<int> period() const {
    for (int period = 1; period <= kLongestPeriod; ++period) {
      bool repeats = true;
      for (int step = 0; step < steps(); ++step) {
        for (int m = half() - 1; m + period < m_middles; ++m)
          repeats = repeats && is_repeated(step, m, period);
      }
      if (repeats) return period;
    }
    return {};
  }

  // Returns the Simulation of a step that has `times` more repetitions of `period` runs.
  Simulation result(int period, std::int64_t times) const {
    double const begin_s = m_steady == 0 ? 0 : m_end_s[0];
    int first = 0, last = 0;  // the range of instances that also stand for those left out
    Simulation result;
    if (times > 0) {
      first = middle(m_steady, half());
      last = middle(m_steady, half() + period);
      result.repeat = {m_times[first].start_s - begin_s, advance_s(period), times};
    }
    for (int i = 0; Instance const& now : m_instances) {
      auto const& [start_s, end_s] = m_times[i];
      std::int64_t const repeated = first <= i && i < last ? times : 0;
      if (now.step == m_steady)
        add(result, {now.item, start_s - begin_s, end_s - begin_s, 1 + repeated});
      ++i;
    }
    result.step_s = m_end_s[m_steady] - begin_s + result.repeat.left_out_s();
    return result;
  }

 private:
  int steps() const { return 2 * m_steady + 1; }
  int half() const { return m_middles / 2; }
  int items() const { return m_middle.last - m_middle.first; }
  // Returns the index of the first instance of run `number` of the `middle` segment in a step.
  int middle(int step, int number) const {
    auto const step_items = static_cast<int>(m_instances.size()) / steps();
    return step * step_items + m_middle.first + number * items();
  }

  bool is_repeated(int step, int number, int period) const {
    auto const now = middle(step, number), then = middle(step, number + period);
    double const by_s = advance_s(period);
    auto const is_later = [&](double from_s, double to_s) {
      return std::abs(to_s - from_s - by_s) <= kAlikeTimes * by_s;
    };
    for (int i = 0; i < items(); ++i) {
      auto const &a = m_times[now + i], &b = m_times[then + i];
      if (!is_later(a.start_s, b.start_s) || !is_later(a.end_s, b.end_s)) return false;
    }
    return true;
  }

  // Returns the seconds that `period` runs of `middle` take, as an average over all whole periods
  // in the second half of the simulated runs.
  double advance_s(int period) const {
    int const periods = (m_middles - 1 - half()) / period;
    auto const from = middle(m_steady, half()), to = middle(m_steady, half() + periods * period);
    return (m_times[to].start_s - m_times[from].start_s) / periods;
  }

  void add(Simulation& result, Simulation::Interval const& interval) const {
    Item const& item = m_program.items[interval.item];
    double const seconds = interval.end_s - interval.start_s;
    result.intervals.push_back(interval);
    result.busy_s[item.lane] += static_cast<double>(interval.times) * seconds;
    result.bytes[item.lane] += interval.times * written_bytes(item);
  }

  Program const& m_program;
  int m_steady;   // the number of the step in steady state
  int m_middles;  // how often a step runs the segment `middle`
  Segment m_middle;
  std::vector<Instance> m_instances;
  IdVector<Timeline::Times> m_times;  // when each instance begins and ends
  std::array<double, 3> m_end_s{};    // when each step ends, or the one before if that is later
};

std::int64_t instances(Program const& program) {
  std::int64_t sum = 0;
  for (Segment const& segment : program.segments)
    sum += times_a_step(program, segment) * (segment.last - segment.first);
  return sum;
}

}  // namespace

Simulation simulate(Program const& program, Machine const& machine, std::int64_t walked_items) {
  std::int64_t middles = 0;
  for (Segment const& segment : program.segments)
    if (segment.is_middle()) middles = times_a_step(program, segment);
  auto const least = instances(program) <= walked_items ? middles : kFewestMiddles;
  for (auto walked = std::min(least, middles);; walked = std::min(2 * walked, middles)) {
    StepWalk const walk(program, machine, walked);
    auto const left = middles - walked;
    if (left == 0) return walk.result(1, 0);
    auto const found = walk.period();
    if (!found && walked < kMostMiddles) continue;
    auto const period = found.value_or(1);  // if times do not repeat, an average is taken
    if (left % period == 0) return walk.result(period, left / period);
    return StepWalk(program, machine, walked + left % period).result(period, left / period);
  }
}

}  // namespace spillway
