#include "plan/move/drift.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "base/units.hpp"

namespace spillway {
namespace {

constexpr double kLeastGain = 0.1;   // a change must gain at least this share of a step
constexpr double kCostsCovered = 2;  // the gain must be more than this many times the cost
// A better plan is expected to gain these shares of a step and of the time that computing waits.
constexpr double kLikelyGain = 0.25, kLikelyGainOfWaits = 0.5;
constexpr double kLeastShare = 0.05;  // lanes that are busy for less of a step are ignored
constexpr int kMostPasses = 8;        // a fit ends after this many simulations

using Factors = PerLane<double>;  // how many times as long as planned a lane takes; 0 if unknown
constexpr std::array kWatchedLanes = {Lane::nvme_write, Lane::nvme_read, Lane::h2d,
                                      Lane::d2h,        Lane::compute,   Lane::host};

bool moves_bytes(Lane lane) {
  return lane == Lane::h2d || lane == Lane::d2h || lane == Lane::nvme_read ||
         lane == Lane::nvme_write;
}

double ratio(double a, double b) {
  return a > 0 && b > 0 ? a / b : 0;
}

double factor(Simulation const& planned, Measured const& measured, Lane lane) {
  auto const planned_s = planned.busy_s[lane], measured_s = measured.busy_s[lane];
  auto const steps = static_cast<double>(measured.steps);
  auto const share = ratio(measured_s, measured.step_s) / steps;
  if (std::max(ratio(planned_s, planned.step_s), share) < kLeastShare) return 0;
  auto const slower = ratio(measured_s, planned_s);
  if (!moves_bytes(lane)) return slower / steps;
  return slower *
         ratio(static_cast<double>(planned.bytes[lane]), static_cast<double>(measured.bytes[lane]));
}

Factors factors(Simulation const& planned, Measured const& measured) {
  Factors result{};
  for (Lane const lane : kWatchedLanes) result[lane] = factor(planned, measured, lane);
  return result;
}

std::string reason(Simulation const& planned, Measured const& measured, Lane lane, double factor) {
  constexpr PerLane<std::string_view> names = {
      "computing",       "copies to the device run", "copies from the device run",
      "the drive reads", "the drive writes",         "",
      "the host lane"};
  auto const planned_s = planned.busy_s[lane];
  if (!moves_bytes(lane))
    return fmt::format("{} takes {} a step instead of {}", names[lane],
                       human_duration(measured.busy_s[lane] / static_cast<double>(measured.steps)),
                       human_duration(planned_s));
  auto const gbps = static_cast<double>(planned.bytes[lane]) / planned_s * 1e-9;
  return fmt::format("{} at {} GB/s instead of {}", names[lane], human_number(gbps / factor, 2),
                     human_number(gbps, 2));
}

void slow_down(Machine& machine, Factors const& known) {
  // Returns the factor of lane `own` or, if that is unknown, the factor of `like`, but at least 1.
  auto const factor = [&](Lane own, Lane like) {
    return known[own] > 0 ? known[own] : std::max(known[like], 1.0);
  };
  auto const read = factor(Lane::nvme_read, Lane::nvme_write);
  auto const write = factor(Lane::nvme_write, Lane::nvme_read);
  machine.nvme_read_gbps /= read;
  machine.nvme_write_gbps /= write;
  machine.nvme_both_gbps /= (read + write) / 2;
  for (auto const& [rate, own, like] : {std::tuple(&machine.h2d_gbps, Lane::h2d, Lane::d2h),
                                        std::tuple(&machine.d2h_gbps, Lane::d2h, Lane::h2d)}) {
    if (known[own] == 0 && known[like] == 0) continue;
    // If the rate of a link is unknown, plans use the rate of memory in its place.
    *rate = (*rate == 0 ? machine.memory_gbps : *rate) / factor(own, like);
  }
  auto const device = factor(Lane::compute, Lane::host), host = factor(Lane::host, Lane::compute);
  auto const by = [&](std::string_view key) { return key.starts_with("host ") ? host : device; };
  for (auto* rate : {&machine.matmul_gflops_bf16, &machine.matmul_gflops_f32, &machine.memory_gbps})
    *rate /= device;
  for (auto& [key, s] : machine.op_s) s *= by(key);
  for (auto& [key, rate] : machine.kind_giga_per_s) rate /= by(key);
}

}  // namespace

Measured slowest(std::span<Measured const> ranks) {
  auto all = ranks.front();
  for (auto const& rank : ranks) {
    all.step_s = std::max(all.step_s, rank.step_s);
    for (Lane const lane : kLanesInOrder) {
      auto const busy = [lane](Measured const& m) {
        return moves_bytes(lane) ? ratio(m.busy_s[lane], static_cast<double>(m.bytes[lane]))
                                 : m.busy_s[lane];
      };
      if (busy(rank) <= busy(all)) continue;
      all.busy_s[lane] = rank.busy_s[lane];
      all.bytes[lane] = rank.bytes[lane];
    }
  }
  return all;
}

bool has_drifted(double planned_s, double measured_s) {
  auto const factor = ratio(measured_s, planned_s);
  return factor > kDrift || (factor > 0 && factor < 1 / kDrift);
}

std::optional<Drift> find_drift(Machine const& assumed, Simulation const& planned,
                                Measured const& measured) {
  bool const longer = measured.step_s > planned.step_s;
  auto const known = factors(planned, measured);
  std::vector<std::string> reasons;
  for (Lane const lane : kWatchedLanes) {
    if (has_drifted(1, known[lane]) && (known[lane] > 1) == longer)
      reasons.push_back(reason(planned, measured, lane, known[lane]));
  }
  if (reasons.empty()) return std::nullopt;
  Drift drift{assumed, fmt::format("{}", fmt::join(reasons, ", "))};
  slow_down(drift.machine, known);
  return drift;
}

std::optional<Fit> fit_machine(Program const& program, Machine const& assumed,
                               Simulation const& planned, Measured const& measured) {
  auto found = find_drift(assumed, planned, measured);
  if (!found) return std::nullopt;
  Fit fit{*found, simulate(program, found->machine)};
  for (int pass = 1; pass < kMostPasses; ++pass) {
    if (measured.step_s <= kDrift * fit.simulation.step_s) break;
    auto slower = factors(fit.simulation, measured);
    for (auto& factor : slower) factor = factor > 0 ? std::max(factor, 1.0) : 0;
    if (std::ranges::max(slower) <= kDrift) break;
    slow_down(fit.drift.machine, slower);
    fit.simulation = simulate(program, fit.drift.machine);
  }
  return fit;
}

bool pays(Change const& change) {
  auto const gain_s = change.step_s - change.new_step_s;
  return gain_s >= kLeastGain * change.step_s &&
         gain_s * static_cast<double>(change.steps_left) > kCostsCovered * change.move_s;
}

bool is_worth_a_search(Measured const& seen, std::int64_t steps_left, double search_s) {
  auto const computing_s = seen.busy_s[Lane::compute] / static_cast<double>(seen.steps);
  auto const gain_s =
      std::max(kLikelyGain * seen.step_s, kLikelyGainOfWaits * (seen.step_s - computing_s));
  return gain_s * static_cast<double>(steps_left) > search_s;
}

}  // namespace spillway
