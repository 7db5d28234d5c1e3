#include "plan/move/drift.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace spillway {
namespace {

constexpr double kLeastGain = 0.1;    // of a step
constexpr double kCostsCovered = 2;   // by what is gained
constexpr double kLikelyGain = 0.25;  // of a step: assumed of a plan that is yet to be searched for
constexpr double kLeastShare = 0.05;  // of a step: lanes that are busy for less say little

using Factors = PerLane<double>;  // measured over planned seconds; 0: not known

bool moves_bytes(Lane lane) {
  return lane == Lane::h2d || lane == Lane::d2h || lane == Lane::nvme_read ||
         lane == Lane::nvme_write;
}

double ratio(double a, double b) {
  return a > 0 && b > 0 ? a / b : 0;
}

double factor(Simulation const& planned, Measured const& measured, Lane lane) {
  auto const i = index(lane);
  auto const planned_share = ratio(planned.busy_s[i], planned.step_s);
  auto const share =
      ratio(measured.busy_s[i], measured.step_s) / static_cast<double>(measured.steps);
  if (std::max(planned_share, share) < kLeastShare) return 0;
  auto const slower = ratio(measured.busy_s[i], planned.busy_s[i]);
  if (!moves_bytes(lane)) return slower / static_cast<double>(measured.steps);
  return slower *
         ratio(static_cast<double>(planned.bytes[i]), static_cast<double>(measured.bytes[i]));
}

bool is_far_off(double factor) {
  return factor > kDrift || (factor > 0 && factor < 1 / kDrift);
}

std::string reason(Simulation const& planned, Measured const& measured, Lane lane, double factor) {
  auto const i = index(lane);
  if (!moves_bytes(lane)) {
    auto const now_s = measured.busy_s[i] / static_cast<double>(measured.steps);
    return fmt::format("{} takes {:.3g} s a step instead of {:.3g}",
                       lane == Lane::compute ? "computing" : "the host lane", now_s,
                       planned.busy_s[i]);
  }
  constexpr std::string_view names[] = {"copies to the device run", "copies from the device run",
                                        "the drive reads", "the drive writes"};
  auto const gbps = static_cast<double>(planned.bytes[i]) / planned.busy_s[i] * 1e-9;
  return fmt::format("{} at {:.2g} GB/s instead of {:.2g}", names[i - index(Lane::h2d)],
                     gbps / factor, gbps);
}

// Of one of two that are alike, where it is known of the other only that that one is slower.
double either(double own, double other) {
  return own > 0 ? own : std::max(other, 1.0);
}

void slow_down(double& rate, double factor) {
  rate /= factor;
}

void scale_drive(Machine& machine, Factors const& known) {
  auto const read = known[Lane::nvme_read], write = known[Lane::nvme_write];
  if (read == 0 && write == 0) return;
  slow_down(machine.nvme_read_gbps, either(read, write));
  slow_down(machine.nvme_write_gbps, either(write, read));
  slow_down(machine.nvme_both_gbps, (either(read, write) + either(write, read)) / 2);
}

void scale_links(Machine& machine, Factors const& known) {
  auto const to = known[Lane::h2d], back = known[Lane::d2h];
  if (to == 0 && back == 0) return;
  // What is not known is as fast as memory.
  if (machine.h2d_gbps == 0) machine.h2d_gbps = machine.memory_gbps;
  if (machine.d2h_gbps == 0) machine.d2h_gbps = machine.memory_gbps;
  slow_down(machine.h2d_gbps, either(to, back));
  slow_down(machine.d2h_gbps, either(back, to));
}

void scale_ops(Machine& machine, Factors const& known) {
  auto const device = known[Lane::compute], host = known[Lane::host];
  if (device == 0 && host == 0) return;
  auto const by = [&](std::string_view key) {
    return key.starts_with("host ") ? either(host, device) : either(device, host);
  };
  for (auto* rate : {&machine.matmul_gflops_bf16, &machine.matmul_gflops_f32, &machine.memory_gbps})
    slow_down(*rate, by(""));
  for (auto& [key, s] : machine.op_s) s *= by(key);
  for (auto& [key, rate] : machine.kind_giga_per_s) slow_down(rate, by(key));
}

}  // namespace

Measured slowest(std::span<Measured const> ranks) {
  auto all = ranks.front();
  for (auto const& rank : ranks) {
    all.step_s = std::max(all.step_s, rank.step_s);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      auto const busy = [lane](Measured const& m) {
        return ratio(m.busy_s[lane], static_cast<double>(m.bytes[lane]));
      };
      bool const slower = moves_bytes(static_cast<Lane>(lane))
                              ? busy(rank) > busy(all)
                              : rank.busy_s[lane] > all.busy_s[lane];
      if (!slower) continue;
      all.busy_s[lane] = rank.busy_s[lane];
      all.bytes[lane] = rank.bytes[lane];
    }
  }
  return all;
}

bool has_drifted(double planned_s, double measured_s) {
  return is_far_off(ratio(measured_s, planned_s));
}

std::optional<Drift> find_drift(Machine const& assumed, Simulation const& planned,
                                Measured const& measured) {
  bool const longer = measured.step_s > planned.step_s;
  Factors known{};
  std::vector<std::string> reasons;
  for (Lane const lane :
       {Lane::nvme_write, Lane::nvme_read, Lane::h2d, Lane::d2h, Lane::compute, Lane::host}) {
    auto const found = known[lane] = factor(planned, measured, lane);
    if (is_far_off(found) && (found > 1) == longer)
      reasons.push_back(reason(planned, measured, lane, found));
  }
  if (reasons.empty()) return std::nullopt;
  Drift drift{assumed, fmt::format("{}", fmt::join(reasons, ", "))};
  scale_drive(drift.machine, known);
  scale_links(drift.machine, known);
  scale_ops(drift.machine, known);
  return drift;
}

bool pays(Change const& change) {
  auto const gain_s = change.step_s - change.new_step_s;
  return gain_s >= kLeastGain * change.step_s &&
         gain_s * static_cast<double>(change.steps_left) > kCostsCovered * change.move_s;
}

bool is_worth_a_search(double step_s, std::int64_t steps_left, double search_s) {
  return kLikelyGain * step_s * static_cast<double>(steps_left) > search_s;
}

}  // namespace spillway
