// Computes when jobs begin and end that wait for each other on lanes and share a machine.
#pragma once

#include <span>
#include <vector>

#include "plan/time/item_cost.hpp"

namespace spillway {

// Holds jobs on lanes. A lane runs its jobs one at a time, in the order in which they were added.
class Timeline {
 public:
  // Adds a job and returns its number, from 0. It begins when all jobs in `waits` have ended.
  int add(Lane lane, ItemCost const& cost, std::span<int const> waits);

  int jobs() const { return static_cast<int>(m_jobs.size()); }

  struct Times {
    double start_s = -1, end_s = -1;  // -1 until the job starts or ends
  };
  // Returns the times of every job. Whenever a job begins or ends, the machine is shared out anew.
  IdVector<Times> run(Shares const& capacity) const;

 private:
  class Execution;
  struct Job {
    ItemCost cost;
    int first_wait, last_wait;  // its waits are [first_wait, last_wait) in m_waits
  };
  IdVector<Job> m_jobs;
  IdVector<int> m_waits;  // the waits of all jobs, one job after the other
  PerLane<std::vector<int>> m_lanes;
};

}  // namespace spillway
