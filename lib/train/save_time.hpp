// Predicts the seconds that a checkpoint takes: an estimate until one has been written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "graph/graph.hpp"
#include "plan/data/machine.hpp"

namespace spillway {

struct SaveEstimate {
  std::int64_t bytes = 0;   // of tensors, over all ranks
  double gbps = 0;          // written by all ranks together
  bool is_measured = true;  // the drive's rate for spill files; false: gbps is a guess

  double seconds() const { return static_cast<double>(bytes) / (gbps * 1e9); }
};

// Estimates with the rate of the machine's drive or a guess, since no one has measured run.dir's.
SaveEstimate estimate_save(Graph const& train, Machine const& machine);

std::string describe(SaveEstimate const& estimate);  // returns a paragraph

class SaveTime {
 public:
  explicit SaveTime(double estimate_s) : m_estimate_s(estimate_s) {}

  void add(double seconds);  // of a checkpoint that has been written
  // Of one that has failed: the next may take as long, but no estimate is refuted.
  void add_failed(double seconds);

  double expected_s() const { return std::max(m_estimate_s, m_longest_s); }  // longest so far
  double total_s() const { return m_total_s; }

 private:
  double m_estimate_s, m_longest_s = 0, m_total_s = 0;
};

}  // namespace spillway
