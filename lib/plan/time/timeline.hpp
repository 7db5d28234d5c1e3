// Says when jobs begin and end that wait for one another on lanes and share a machine.
#pragma once

#include <span>
#include <vector>

#include "plan/time/item_cost.hpp"

namespace spillway {

// A lane takes its jobs in the order in which they were added, one at a time.
class Timeline {
 public:
  // Returns the job's number, from 0. It begins only when all of `waits`, earlier jobs, have ended.
  int add(Lane lane, ItemCost const& cost, std::span<int const> waits);

  int jobs() const { return static_cast<int>(m_jobs.size()); }

  struct Times {
    double start_s = -1, end_s = -1;  // -1: not yet
  };
  // Returns the times of every job. The machine is shared out anew whenever a job begins or ends.
  IdVector<Times> run(Shares const& capacity) const;

 private:
  class Execution;
  struct Job {
    ItemCost cost;
    int first_wait, last_wait;  // [first_wait, last_wait) in m_waits
  };
  IdVector<Job> m_jobs;
  IdVector<int> m_waits;  // of all jobs, one after the other
  PerLane<std::vector<int>> m_lanes;
};

}  // namespace spillway
