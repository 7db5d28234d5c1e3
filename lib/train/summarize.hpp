// Summarizes a run at its end: what was planned beside what was measured.
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
  double train_s;
  Status status;
};

// Holds the numbers of one rank that other ranks need.
struct RankNumbers {
  TierBytes measured{};
  std::int64_t outside_bytes = 0, peak_rss_bytes = 0;
  std::optional<std::int64_t> device_outside_bytes = {};
  std::optional<Pinning> pinning = {};
  std::int64_t written_bytes = 0, read_bytes = 0;
  double write_s = 0, read_s = 0;
};
// Returns the largest peaks of all ranks, each by itself, and the sums of what was moved.
RankNumbers over_ranks(std::span<RankNumbers const> all);
// Returns what was moved, and how fast, of the numbers of all ranks. Says nothing of drives.
SpillReport spill_report(RankNumbers const& total);

// Collective. Peaks are the largest over ranks; spilled bytes are the sums over ranks.
Summary summarize(SummaryParts const& parts, Comm& comm);

// Returns the seconds that a step spends in each kind of op, as simulated.
std::array<double, kOpKinds> predicted_op_seconds(Program const& program,
                                                  Simulation const& simulation);

// Returns what a rank waited, of its seconds by peer.
RankWait wait_of(std::span<double const> by_peer);

// Returns a few lines for a person to read.
std::string closing_lines(Summary const& summary, Config const& config);

}  // namespace spillway
