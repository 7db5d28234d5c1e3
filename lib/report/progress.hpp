// What a person sees while a run trains: one live line on a terminal, plain lines in a batch log.
#pragma once

#include <cstdint>
#include <string>

#include "report/metrics.hpp"

namespace spillway {

class Progress {
 public:
  Progress(std::int64_t steps, bool terminal) : m_steps(steps), m_terminal(terminal) {}

  // Called after every step; a terminal is redrawn each time, a log gets a line when `logged`.
  void show(StepMetrics const& row, bool logged);
  // Leaves the live line, so that a message can follow it.
  void break_line();

 private:
  std::int64_t m_steps;
  bool m_terminal;
  bool m_line_open = false;
  double m_mean_step_s = 0;
};

// "step 120/600  loss 1.2345  valid 1.3  8192 tok/s  MFU 41 %  ETA 3m20s  device 61 MiB nvme 12
// MiB"; "82 % of matmul" in place of MFU where no peak is known.
std::string progress_line(StepMetrics const& row, std::int64_t steps, double mean_step_s);

// "1.2345"; "none" where nothing was to be predicted.
std::string loss_text(LossSums const& loss);

}  // namespace spillway
