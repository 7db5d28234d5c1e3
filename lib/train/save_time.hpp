// The seconds that a checkpoint takes: estimated, until one has been written.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.hpp"
#include "plan/data/machine.hpp"

namespace spillway {

struct SaveEstimate {
  std::int64_t bytes = 0;   // of tensors, over all ranks
  double gbps = 0;          // of all ranks together
  bool is_measured = true;  // the rate, of the drive for spill files; else a guess

  double seconds() const { return static_cast<double>(bytes) / (gbps * 1e9); }
};

// Nobody has measured where run.dir lies: what the machine's drive writes, or a guess.
SaveEstimate estimate_save(Graph const& train, Machine const& machine);

std::string describe(SaveEstimate const& estimate);  // a paragraph

class SaveTime {
 public:
  explicit SaveTime(double estimate_s) : m_expected_s(estimate_s) {}

  void add(double seconds);  // of one that has been written

  double expected_s() const { return m_expected_s; }  // of the next: the longest one's so far
  double total_s() const { return m_total_s; }

 private:
  double m_expected_s, m_total_s = 0;
};

}  // namespace spillway
