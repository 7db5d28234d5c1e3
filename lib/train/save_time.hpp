// Predicts how long a checkpoint takes, from an estimate until the first one has been written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "graph/graph.hpp"
#include "plan/data/machine.hpp"

namespace spillway {

struct SaveEstimate {
  std::int64_t bytes = 0;   // the bytes of all tensors, over all ranks
  double gbps = 0;          // written by the ranks of one node together
  bool is_measured = true;  // for the drive of spill files; if false, gbps is a guess

  double seconds() const { return static_cast<double>(bytes) / (gbps * 1e9); }
};

// Uses the rate at which a node's ranks write to its drive together, or a guess, since the rate of
// run.dir is not measured. More nodes are not taken to be faster, because they share run.dir.
// If `leaves_base`, what the run does not train is not counted (state/restored_start.hpp).
SaveEstimate estimate_save(Graph const& train, bool leaves_base, Machine const& machine,
                           std::int64_t ranks);

std::string describe(SaveEstimate const& estimate);  // returns a paragraph

class SaveTime {
 public:
  explicit SaveTime(double estimate_s) : m_estimate_s(estimate_s) {}

  void add(double seconds);  // counts a checkpoint that has been written
  // Counts the time of a checkpoint that failed. The next one may take as long, but the estimate
  // stays in use, since it is not refuted.
  void add_failed(double seconds);

  // Returns the seconds that the next checkpoint may take.
  double expected_s() const { return std::max(m_estimate_s, m_longest_s); }
  double total_s() const { return m_total_s; }

 private:
  double m_estimate_s, m_longest_s = 0, m_total_s = 0;
};

}  // namespace spillway
