// The drive reads and writes only some bytes of main memory: those that transfers from and to the
// spill file copy. They are what is worth registering with the queue of the spill file.
#pragma once

#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// Returns the tier to which the drive has direct access: the device tier where device memory is
// main memory (`unified`), otherwise the host tier.
constexpr Tier drive_tier(bool unified) {
  return unified ? Tier::device : Tier::host;
}

// Returns which bytes of that tier the drive reads or writes, as ranges of whole pages in rising
// order that do not touch each other. The last one may end within a page, at the tier's peak. The
// Program must have its offsets.
std::vector<ByteRange> drive_ranges(Program const& program);

}  // namespace spillway
