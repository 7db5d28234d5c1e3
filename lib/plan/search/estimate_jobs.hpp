// What estimates of steps are made of: jobs on lanes, each told what it waits for.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <stdexcept>

#include "plan/data/machine.hpp"
#include "plan/schedule/reach.hpp"
#include "plan/time/timeline.hpp"

namespace spillway {

// Jobs to wait for; -1 is none.
class Waits {
 public:
  Waits(std::initializer_list<int> jobs) {
    for (int const job : jobs) push_back(job);
  }
  void push_back(int job) {
    if (job < 0) return;
    if (m_count == m_jobs.size()) throw std::logic_error("a station waits for too many jobs");
    m_jobs[m_count++] = job;
  }
  operator std::span<int const>() const { return {m_jobs.data(), m_count}; }

 private:
  std::array<int, 32> m_jobs;
  std::size_t m_count = 0;
};

class EstimateJobs {
 public:
  EstimateJobs(Machine const& machine, std::int64_t ranks, bool unified)  // the machine outlives it
      : m_machine(machine), m_ranks(ranks), m_unified(unified) {}

  int add(Lane lane, ItemCost const& cost, Waits const& waits) {
    return m_timeline.add(lane, cost, waits);
  }
  // What the bytes leave with, and what they are there with.
  struct Transfer {
    int left, there;
  };
  Transfer transfer(Tier from, Tier to, std::int64_t bytes, Waits const& waits) {
    bool const staged = is_staged(from, to, m_unified);
    int const left = copy(from, staged ? Tier::host : to, bytes, waits);
    return {left, staged ? copy(Tier::host, to, bytes, {left}) : left};
  }
  // To other ranks, after `job`; that itself if there is nothing to send.
  int send(std::int64_t bytes, int job, Waits waits = {}) {
    if (bytes == 0) return job;
    waits.push_back(job);
    return add(Lane::comm, send_cost(bytes, m_machine, m_ranks), waits);
  }
  Timeline const& timeline() const { return m_timeline; }

 private:
  int copy(Tier from, Tier to, std::int64_t bytes, Waits const& waits) {
    auto const lane = copy_lane(from, to);
    return add(lane, copy_cost(bytes, m_machine, lane), waits);
  }

  Machine const& m_machine;
  std::int64_t m_ranks;
  bool m_unified;
  Timeline m_timeline;
};

}  // namespace spillway
