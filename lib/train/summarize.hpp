// Summarizes a run at its end: what was planned, and what was measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "plan/data/machine.hpp"
#include "plan/time/simulate.hpp"
#include "report/summary.hpp"
#include "train/trainer.hpp"

namespace spillway {

struct SummaryParts {
  Config const& config;
  Machine const& machine;
  RunMemory& memory;
  Trainer const& trainer;
  std::int64_t outside_bytes;
  std::optional<std::int64_t> device_outside_bytes;
  std::optional<Pinning> pinning;
  SteadyClock::time_point begin;  // when the process began
  double restart_s;               // from then on until the first step began
  double train_s = 0;
  int exit = 0;  // the status of the process
};

// RankNumbers are what other ranks need to know of a rank.
struct RankNumbers {
  TierBytes planned{}, measured{};
  double predicted_step_s = 0;
  std::int64_t outside_bytes = 0, peak_rss_bytes = 0;
  std::optional<std::int64_t> device_outside_bytes = {};
  std::optional<Pinning> pinning = {};
  std::int64_t written_bytes = 0, read_bytes = 0;
  double write_s = 0, read_s = 0;
};
// Returns the largest value of every peak and of predicted steps over all ranks, and the sums of
// bytes and seconds.
RankNumbers over_ranks(std::span<RankNumbers const> all);
// Returns how much was moved, and how fast. `total` is of all ranks. Lifetimes are not filled in.
SpillReport spill_report(RankNumbers const& total);

// All ranks must call this. Peaks are the largest over ranks; spilled bytes are sums over ranks.
Summary summarize(SummaryParts const& parts, Comm& comm);
// Returns the same of this rank alone, where others may be gone and threads may still be at work:
// without what ops took, and without waits.
Summary summarize_alone(SummaryParts const& parts);

// Returns the seconds that a step spends in each kind of op, as simulated.
std::array<double, kOpKinds> predicted_op_seconds(Program const& program,
                                                  Simulation const& simulation);

}  // namespace spillway
