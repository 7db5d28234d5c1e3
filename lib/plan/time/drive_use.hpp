// Estimates how fast the writes of a run wear out the drives of a node.
#pragma once

#include "plan/data/machine.hpp"

namespace spillway {

struct DriveUse {
  double step_bytes = 0, day_bytes = 0;  // bytes that all ranks of a node write to its drives
  double lifetime_years = 0;             // how long the drives last with such writes; 0 if unknown
  double used_lifetime_years = 0;        // the same for cells as a spill file uses them
};

// Returns how many times as much as drives are rated for may be written to a spill file: its writes
// are large, and its data need not outlast a step.
double wear_gain(Machine const& machine);

// Estimates the life of a drive as SSDTrain does: endurance * time of a step / bytes written in a
// step. A rank writes `rank_step_bytes` in a step, and the ranks on one node share its drives.
DriveUse drive_use(std::int64_t rank_step_bytes, double step_s, std::int64_t ranks,
                   Machine const& machine);

// Returns a text such as "12.3 GB" or "211 TB", in powers of ten, because drives are rated in them.
std::string drive_bytes(double bytes);
// Returns a text such as "5.8 days" or "3.2 years".
std::string drive_life(double years);
// Returns a text on the factors of `wear_gain`, such as "writes amplified 1 x, rated 2.5 x;
// data kept a day: 86 x the writes".
std::string wear_words(Machine const& machine);

}  // namespace spillway
