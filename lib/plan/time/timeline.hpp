// Computes when jobs begin and end if they wait for each other and their lanes share a machine.
#pragma once

#include <span>
#include <vector>

#include "plan/time/item_cost.hpp"

namespace spillway {

// Holds jobs on lanes. A lane runs its jobs one at a time, in the order in which they were added.
class Timeline {
 public:
  // Adds a job and returns its number. The job can begin when all jobs in `waits` have ended.
  int add(Lane lane, ItemCost const& cost, std::span<int const> waits);

  int jobs() const { return static_cast<int>(m_jobs.size()); }

  struct Times {
    double start_s = -1, end_s = -1;  // when the job starts and ends; -1 means not yet
  };
  // Returns the times of all jobs. When a job begins or ends, resources are shared out anew.
  IdVector<Times> run(Shares const& capacity) const;

 private:
  class Execution;
  struct Job {
    ItemCost cost;
    int first_wait, last_wait;  // the range of the job's waits in m_waits
  };
  IdVector<Job> m_jobs;
  IdVector<int> m_waits;  // the waits of all jobs, one job after the other
  PerLane<std::vector<int>> m_lanes;
};

}  // namespace spillway
