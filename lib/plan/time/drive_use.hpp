// Says how fast spilling wears out a node's drives.
#pragma once

#include "plan/data/machine.hpp"

namespace spillway {

struct DriveUse {
  double step_bytes = 0, day_bytes = 0;  // written, by all ranks of a node
  double lifetime_years = 0;             // of the drives at this rate; 0: not known
};

// SSDTrain's model is: life = endurance * time of a step / bytes written in a step. A rank writes
// `rank_step_bytes` a step, and those of the `ranks` that are on one node share its drives.
DriveUse drive_use(std::int64_t rank_step_bytes, double step_s, std::int64_t ranks,
                   Machine const& machine);

// Says "12.3 GB", "211 TB", in powers of ten, because drives are rated in those.
std::string drive_bytes(double bytes);
// Says "5.8 days", "3.2 years".
std::string drive_life(double years);

}  // namespace spillway
