// Shows a person how a run advances: as one live line on a terminal, or as lines in a batch log.
#pragma once

#include <cstdint>
#include <string>

#include "report/metrics.hpp"

namespace spillway {

class Progress {
 public:
  Progress(std::int64_t steps, bool terminal) : m_steps(steps), m_terminal(terminal) {}

  // Call this after every step. A terminal is redrawn each time, and a log gets a line if `logged`
  // is true.
  void show(StepMetrics const& row, bool logged);
  // Ends the live line, so that a message can follow on a line of its own.
  void break_line();

 private:
  std::int64_t m_steps;
  bool m_terminal;
  bool m_line_open = false;
  double m_mean_step_s = 0;
};

// Returns a line such as "step 120/600  loss 1.2345  valid 1.3  8192 tok/s  MFU 41 %  ETA 3m20s
// device 61 MiB  nvme 12 MiB". If the device's peak rate is not known, a text such as "82 % of
// matmul" stands in place of the MFU.
std::string progress_line(StepMetrics const& row, std::int64_t steps, double mean_step_s);

// Returns a text such as "1.2345", or "none" if there was no target.
std::string loss_text(LossSums const& loss);

}  // namespace spillway
