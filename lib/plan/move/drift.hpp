// Compares what is measured while a run goes on with what its plan assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "plan/data/machine.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

// Holds what was measured over some steps: on one rank or, from `slowest`, each number from the
// rank that was slowest in it.
struct Measured {
  std::int64_t steps = 0;
  double step_s = 0;              // the median
  PerLane<double> busy_s{};       // sums over all steps
  PerLane<std::int64_t> bytes{};  // moved in all steps
};
Measured slowest(std::span<Measured const> ranks);

// A step has drifted if it takes longer than planned by this factor, or shorter.
inline constexpr double kDrift = 1.25;
bool has_drifted(double planned_s, double measured_s);

struct Drift {
  Machine machine;  // as it turned out to be
  std::string why;  // "the drive writes at 0.2 GB/s instead of 1.9"
};
// Scales `assumed`, on which `planned` was simulated, by the ratio of measured to planned seconds:
// per byte for lanes that move bytes, per step for those that compute. A plan may hardly use a
// lane, which then is not measured; it is taken to be slower as its like is: the other direction of
// a drive or link, the other lane that computes. Returns nothing if no lane explains the drift.
std::optional<Drift> find_drift(Machine const& assumed, Simulation const& planned,
                                Measured const& measured);

// A change has the predicted times of two plans on one Machine, and of the move between them.
struct Change {
  double step_s = 0, new_step_s = 0, move_s = 0;
  std::int64_t steps_left = 0;
};
// A change pays if it gains a tenth of a step and, over the rest of the run, twice what the move
// costs. It asks for that much because simulations are not exact.
bool pays(Change const& change);
// Says whether a better plan would probably gain the `search_s` that it takes to find it.
bool is_worth_a_search(double step_s, std::int64_t steps_left, double search_s);

}  // namespace spillway
