// Predicts the time that a Program takes on a Machine.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// Holds the predicted times of a step. If many runs of `middle` take equal times, `repeat` says
// which of them are left out, and all later intervals are too early by the left-out time.
struct Simulation {
  struct Interval {
    ItemNumber item;
    double start_s, end_s;
    std::int64_t times = 1;  // how often the interval occurs, left-out repetitions included
  };
  // The simulation leaves out `times` repetitions of what happens in [begin_s, begin_s + period_s).
  struct Repeat {
    double begin_s = 0, period_s = 0;
    std::int64_t times = 0;

    double left_out_s() const { return static_cast<double>(times) * period_s; }
  };
  double step_s = 0;             // the time of a step, left-out repetitions included
  IdVector<Interval> intervals;  // one step's intervals in the steady state, in the order of items
  Repeat repeat;
  PerLane<double> busy_s{};
  PerLane<std::int64_t> bytes{};  // bytes that each lane moves in a step
};
// By default, steps of at most this many items are simulated completely.
inline constexpr std::int64_t kWalkedItems = 100'000;
Simulation simulate(Program const& program, Machine const& machine,
                    std::int64_t walked_items = kWalkedItems);

}  // namespace spillway
