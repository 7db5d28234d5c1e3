// The end of a run in numbers: what was planned beside what was measured.
#pragma once

#include <string>

#include "plan/data/machine.hpp"
#include "train/summary.hpp"
#include "train/trainer.hpp"

namespace spillway {

struct SummaryParts {
  Config const& config;
  Machine const& machine;
  RunMemory& memory;
  Trainer const& trainer;
  std::int64_t outside_bytes;
  double train_s;
  Status status;
};

// Collective: peaks are the largest over ranks, spilled bytes the sums of all.
Summary summarize(SummaryParts const& parts, Comm& comm);

// A few lines for a person.
std::string closing_lines(Summary const& summary, Config const& config);

}  // namespace spillway
