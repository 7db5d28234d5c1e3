// What is measured while a run goes on, against what its plan assumed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "plan/data/machine.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

// What steps took on one rank, or on the slowest of each kind.
struct Measured {
  std::int64_t steps = 0;
  double step_s = 0;              // the median
  PerLane<double> busy_s{};       // of all steps
  PerLane<std::int64_t> bytes{};  // moved
};
Measured slowest(std::span<Measured const> ranks);

// Steps that take this much longer, or shorter, than was planned are worth a second look.
inline constexpr double kDrift = 1.25;
bool has_drifted(double planned_s, double measured_s);

struct Drift {
  Machine machine;  // as it turned out to be
  std::string why;  // "the drive writes at 0.2 GB/s instead of 1.9"
};
// Scales `assumed`, on which `planned` was simulated, by measured seconds over planned ones: of a
// byte for lanes that move bytes, of a step for those that compute. What the plan hardly uses was
// not measured: a drive that is slow one way is so the other way too, and a busy machine for both
// lanes that compute. Empty: no lane explains why steps are longer, or shorter.
std::optional<Drift> find_drift(Machine const& assumed, Simulation const& planned,
                                Measured const& measured);

// Both plans on the same Machine, and what it takes to come from one to the other.
struct Change {
  double step_s = 0, new_step_s = 0, move_s = 0;
  std::int64_t steps_left = 0;
};
// It gains a tenth of a step, and over the rest of the run twice what the move costs: simulations
// are not that exact.
bool pays(Change const& change);
// Before the search for a new plan, which costs about `search_s`: whether there is that to gain.
bool is_worth_a_search(double step_s, std::int64_t steps_left, double search_s);

}  // namespace spillway
