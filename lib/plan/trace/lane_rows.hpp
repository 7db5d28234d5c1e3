// LaneRows deal what lanes do out to rows of a trace, so that nothing on a row overlaps.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// A TrackSlice is a time in nanoseconds on a row of a lane.
struct TrackSlice {
  Lane lane = Lane::compute;
  int row = -1;  // -1: there is none
  std::int64_t start_ns = 0, end_ns = 0;

  std::int64_t length_ns() const { return end_ns - start_ns; }
};

class LaneRows {
 public:
  // Returns the times on the first row that is free. A serial lane has one row: what the clocks of
  // a device and of the host say differently is cut off.
  TrackSlice take(Lane lane, std::int64_t start_ns, std::int64_t end_ns);

  std::size_t count(Lane lane) const { return m_busy_until_ns[lane].size(); }
  // Returns when the last row of the lane is free.
  std::int64_t free_ns(Lane lane) const;

 private:
  PerLane<std::vector<std::int64_t>> m_busy_until_ns;
};

}  // namespace spillway
