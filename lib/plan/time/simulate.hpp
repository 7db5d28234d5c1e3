// Predicts the time that a Program takes on a Machine.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// Holds the predicted times of a step. If many micro-batches are alike, only a few of them are
// simulated, and the last ones follow at once. `repeat` says what was left out.
struct Simulation {
  struct Interval {
    ItemNumber item;
    double start_s, end_s;
    std::int64_t times = 1;  // how often this happens in the step, left-out repetitions included
  };
  // Says that the events in [begin_s, begin_s + period_s) happen `times` more times, which the
  // simulation leaves out.
  struct Repeat {
    double begin_s = 0, period_s = 0;
    std::int64_t times = 0;

    double left_out_s() const { return static_cast<double>(times) * period_s; }
  };
  double step_s = 0;             // time of the whole step, left-out repetitions included
  IdVector<Interval> intervals;  // intervals of one step in steady state, in the order of items
  Repeat repeat;
  PerLane<double> busy_s{};
  PerLane<std::int64_t> bytes{};  // bytes that each lane moves in a step
};
// By default, steps of at most this many items are simulated completely.
inline constexpr std::int64_t kWalkedItems = 100'000;
Simulation simulate(Program const& program, Machine const& machine,
                    std::int64_t walked_items = kWalkedItems);

}  // namespace spillway
