// Compares what a run measures with what its plan assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "plan/data/machine.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

// Holds what was measured over some steps on one rank. The function `slowest` combines several
// ranks: each number comes from the rank that was slowest in it.
struct Measured {
  std::int64_t steps = 0;
  double step_s = 0;              // median time of a step
  PerLane<double> busy_s{};       // busy seconds, summed over all steps
  PerLane<std::int64_t> bytes{};  // bytes moved in all steps
};
Measured slowest(std::span<Measured const> ranks);

// A step has drifted if it is longer or shorter than planned by more than this factor.
inline constexpr double kDrift = 1.25;
bool has_drifted(double planned_s, double measured_s);

struct Drift {
  Machine machine;  // a Machine with the rates that were measured
  std::string why;  // for example "the drive writes at 0.2 GB/s instead of 1.9"
};
// Scales the rates of `assumed`, on which `planned` was simulated, by the ratio of measured to
// planned seconds: per byte for lanes that move bytes, per step for lanes that compute. A lane that
// the plan hardly uses is not measured. It is assumed to be as much slower as its counterpart,
// which is the other direction of a drive or link, or the other lane that computes. Returns nothing
// if no lane explains the drift.
std::optional<Drift> find_drift(Machine const& assumed, Simulation const& planned,
                                Measured const& measured);

// Holds the predicted step times of two plans and the time of the move between them.
struct Change {
  double step_s = 0, new_step_s = 0, move_s = 0;
  std::int64_t steps_left = 0;
};
// Says whether a change pays: it must gain a tenth of a step and, over the rest of the run, twice
// the cost of the move. These limits are high because simulations are not exact.
bool pays(Change const& change);
// Says whether a better plan would probably save the `search_s` seconds that it takes to find it.
bool is_worth_a_search(double step_s, std::int64_t steps_left, double search_s);

}  // namespace spillway
