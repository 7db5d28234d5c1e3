// When jobs on lanes begin and end that wait for one another and share a machine.
#pragma once

#include <span>
#include <vector>

#include "plan/time/item_cost.hpp"

namespace spillway {

// A lane takes its jobs in the order in which they were added, one at a time.
class Timeline {
 public:
  // The job's number, from 0. `waits`: earlier jobs that must have ended.
  int add(Lane lane, ItemCost const& cost, std::span<int const> waits);

  int jobs() const { return static_cast<int>(m_costs.size()); }

  struct Times {
    double start_s = -1, end_s = -1;
  };
  // Of every job. What is shared is dealt out anew whenever a job begins or ends.
  std::vector<Times> run(Shares const& capacity) const;

 private:
  friend class TimelineRun;
  std::vector<ItemCost> m_costs;
  std::vector<int> m_waits, m_first_wait;  // of all jobs, one after the other
  PerLane<std::vector<int>> m_lanes;
};

}  // namespace spillway
