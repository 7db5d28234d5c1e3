// These functions compare what a run measures with what its plan assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "plan/data/machine.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

// A Measured holds what one rank measured over some steps. The function `slowest` combines several
// ranks: it takes each number from the rank that was slowest in that number.
struct Measured {
  std::int64_t steps = 0;
  double step_s = 0;              // the median of the times that steps took
  PerLane<double> busy_s{};       // the seconds that each lane was busy in all steps
  PerLane<std::int64_t> bytes{};  // the bytes that each lane moved in all steps
};
Measured slowest(std::span<Measured const> ranks);

// A step has drifted if it is longer or shorter than planned by more than this factor.
inline constexpr double kDrift = 1.25;
bool has_drifted(double planned_s, double measured_s);

struct Drift {
  Machine machine;  // the Machine with the rates that were measured
  std::string why;  // a reason such as "the drive writes at 0.2 GB/s instead of 1.9"
};
// Scales the rates of `assumed`, on which `planned` was simulated, by the ratio of measured to
// planned seconds: per byte for lanes that move bytes, per step for lanes that compute. A lane that
// is hardly used is assumed to be as much slower as its counterpart, which is the other direction
// of a drive or link, or the other lane that computes. Returns nothing if no lane explains the
// drift.
std::optional<Drift> find_drift(Machine const& assumed, Simulation const& planned,
                                Measured const& measured);

struct Fit {
  Drift drift;
  Simulation simulation;  // of the program on the new machine
};
// Calls find_drift, simulates `program` on the machine that it returns, and goes on to slow down
// lanes that are still too fast there, while that step is shorter than the measured one by kDrift.
// One scaling is too little for a lane that was planned to be short: most of its time is overhead
// or waits for other lanes' traffic, which do not grow as the rate falls.
std::optional<Fit> fit_machine(Program const& program, Machine const& assumed,
                               Simulation const& planned, Measured const& measured);

// A Change holds the predicted step times of two plans and the time of the move between them.
struct Change {
  double step_s = 0, new_step_s = 0, move_s = 0;
  std::int64_t steps_left = 0;
};
// Returns whether a change pays. It must gain a tenth of a step and, over the rest of the run,
// twice the cost of the move. These limits are high because simulations are not exact.
bool pays(Change const& change);
// Returns whether a better plan would probably save more time than the `search_s` of a search. It
// would save a quarter of a step or, where that is more, half of the time that computing waits.
bool is_worth_a_search(Measured const& seen, std::int64_t steps_left, double search_s);

}  // namespace spillway
