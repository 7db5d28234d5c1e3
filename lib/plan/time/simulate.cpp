#include "plan/time/simulate.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "plan/proof/unroll.hpp"
#include "plan/time/timeline.hpp"

namespace spillway {

namespace {

// Of a long step so many micro-batches between the first and the last are walked, the double where
// those do not yet repeat each other.
constexpr std::int64_t kFewestMiddles = 8, kMostMiddles = 64;
constexpr int kLongestPeriod = 4;     // micro-batches
constexpr double kAlikeTimes = 1e-9;  // of a period

// A job for every instance, which waits for the latest instances of what its item waits for.
Timeline timeline_of(Program const& program, std::vector<Instance> const& instances,
                     std::vector<ItemCost> const& costs) {
  Timeline timeline;
  std::vector<int> latest(program.items.size(), -1), waits;
  for (Instance const& now : instances) {
    auto const number = static_cast<std::size_t>(now.item);
    Item const& item = program.items[number];
    waits.clear();
    for (ItemNumber const wait : item.waits) {
      int const awaited = latest[wait];
      if (awaited >= 0) waits.push_back(awaited);
    }
    latest[number] = timeline.add(item.lane, costs[number], waits);
  }
  return timeline;
}

// Two steps without a barrier, of which the second is the steady state; what runs once has but one.
class StepWalk {
 public:
  StepWalk(Program const& program, Machine const& machine, std::int64_t middles)
      : m_program(program),
        m_steady(program.once ? 0 : 1),
        m_sequence(segment_sequence(program, middles)),
        m_instances(unroll(program, m_sequence, m_steady + 1)),
        m_times(timeline_of(program, m_instances, item_costs(program, machine))
                    .run(capacities(machine))) {
    for (std::size_t i = 0; i < m_times.size(); ++i) {
      assert(m_times[i].end_s >= 0);  // waits point backwards
      auto& end = m_end_s[m_instances[i].step];
      end = std::max(end, m_times[i].end_s);
    }
    find_middles();
  }

  // Of how many micro-batches all times are those of as many before, later by the same amount:
  // in both steps, and in the second half of those walked. What decides when an item begins is
  // then the same again, so the next ones are like them, however many there are.
  std::optional<int> period() const {
    for (int period = 1; period <= kLongestPeriod; ++period) {
      bool repeats = true;
      for (int step = 0; step <= m_steady; ++step) {
        for (int m = half() - 1; m + period < middles(); ++m)
          repeats = repeats && is_repeated(step, m, period);
      }
      if (repeats) return period;
    }
    return {};
  }

  // `period` micro-batches stand for `times` further periods.
  Simulation result(int period, std::int64_t times) const {
    double const begin_s = m_steady == 0 ? 0 : m_end_s[0];
    Simulation result;
    if (times > 0) {
      auto const first = m_times[middle(m_steady, half())].start_s - begin_s;
      result.repeat = {first, advance_s(period), times};
    }
    for (std::size_t i = 0; i < m_times.size(); ++i) {
      if (m_instances[i].step < m_steady) continue;
      auto const& [start, end] = m_times[i];
      bool const repeats =
          times > 0 && middle(m_steady, half()) <= i && i < middle(m_steady, half() + period);
      add(result, {m_instances[i].item, start - begin_s, end - begin_s, repeats ? 1 + times : 1});
    }
    result.step_s = std::max(m_end_s[0], m_end_s[1]) - begin_s +
                    static_cast<double>(times) * result.repeat.period_s;
    return result;
  }

 private:
  int middles() const { return static_cast<int>(m_middles.size()) / (m_steady + 1); }
  int half() const { return middles() / 2; }
  // The first instance of a micro-batch between a step's first and last one.
  std::size_t middle(int step, int number) const { return m_middles[step * middles() + number]; }

  void find_middles() {
    std::size_t at = 0;
    for (int step = 0; step <= m_steady; ++step) {
      for (int const s : m_sequence) {
        Segment const& segment = m_program.segments[s];
        if (segment.is_middle()) {
          m_middles.push_back(at);
          m_items = static_cast<std::size_t>(segment.last - segment.first);
        }
        at += static_cast<std::size_t>(segment.last - segment.first);
      }
    }
  }

  bool is_repeated(int step, int number, int period) const {
    auto const now = middle(step, number), then = middle(step, number + period);
    double const by_s = advance_s(period);
    auto const is_later = [&](double from_s, double to_s) {
      return std::abs(to_s - from_s - by_s) <= kAlikeTimes * by_s;
    };
    for (std::size_t i = 0; i < m_items; ++i) {
      auto const &a = m_times[now + i], &b = m_times[then + i];
      if (!is_later(a.start_s, b.start_s) || !is_later(a.end_s, b.end_s)) return false;
    }
    return true;
  }

  // Of so many micro-batches, on the average of the second half; that is of whole periods where
  // there are such.
  double advance_s(int period) const {
    int const periods = (middles() - 1 - half()) / period;
    auto const from = middle(m_steady, half()), to = middle(m_steady, half() + periods * period);
    return (m_times[to].start_s - m_times[from].start_s) / periods;
  }

  void add(Simulation& result, Simulation::Span const& span) const {
    Item const& item = m_program.items[span.item];
    result.spans.push_back(span);
    result.busy_s[item.lane] += static_cast<double>(span.times) * (span.end_s - span.start_s);
    result.bytes[item.lane] += span.times * written_bytes(item);
  }

  Program const& m_program;
  int m_steady;  // step
  std::vector<int> m_sequence;
  std::vector<Instance> m_instances;
  std::vector<Timeline::Times> m_times;
  std::array<double, 2> m_end_s{};     // of each step
  std::vector<std::size_t> m_middles;  // first instances, of all steps
  std::size_t m_items = 0;             // of a middle
};

std::int64_t instances(Program const& program) {
  std::int64_t sum = 0;
  for (Segment const& segment : program.segments)
    sum += times_a_step(program, segment) * (segment.last - segment.first);
  return sum;
}

}  // namespace

Simulation simulate(Program const& program, Machine const& machine, std::int64_t walked_items) {
  auto const middles = std::max<std::int64_t>(0, program.micro_batches - 2);
  auto const least = instances(program) <= walked_items ? middles : kFewestMiddles;
  for (auto walked = std::min(least, middles);; walked = std::min(2 * walked, middles)) {
    StepWalk const walk(program, machine, walked);
    auto const left = middles - walked;
    if (left == 0) return walk.result(1, 0);
    auto const found = walk.period();
    if (!found && walked < kMostMiddles) continue;
    auto const period = found.value_or(1);  // none: the average
    if (left % period == 0) return walk.result(period, left / period);
    return StepWalk(program, machine, walked + left % period).result(period, left / period);
  }
}

}  // namespace spillway
