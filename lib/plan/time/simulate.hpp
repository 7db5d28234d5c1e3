// Predicts the time that a Program takes on a Machine.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// Only a few of many micro-batches that are all alike are simulated, so the last of them follow the
// first ones at once; `repeat` says what was left out.
struct Simulation {
  struct Interval {
    ItemNumber item;
    double start_s, end_s;
    std::int64_t times = 1;  // how often the step does this, with the repetitions that are left out
  };
  // What happens in [begin_s, begin_s + period_s) is left out `times` more times after that.
  struct Repeat {
    double begin_s = 0, period_s = 0;
    std::int64_t times = 0;

    double left_out_s() const { return static_cast<double>(times) * period_s; }
  };
  double step_s = 0;             // of the whole step, with what is left out
  IdVector<Interval> intervals;  // of one step in steady state, in the order of items
  Repeat repeat;
  PerLane<double> busy_s{};
  PerLane<std::int64_t> bytes{};  // moved per lane and step
};
// A step of at most `walked_items` items is simulated whole.
inline constexpr std::int64_t kWalkedItems = 100'000;
Simulation simulate(Program const& program, Machine const& machine,
                    std::int64_t walked_items = kWalkedItems);

}  // namespace spillway
