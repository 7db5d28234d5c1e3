// Shows a person how a run advances: as one live line on a terminal with the logged lines above it,
// or as lines in a batch log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/live_line.hpp"
#include "report/metrics.hpp"

namespace spillway {

// Says where progress is shown. A live line has at most `columns` columns; if they are 0, the
// terminal is asked each time, since its window may change.
struct ShownOn {
  bool terminal = false;
  std::size_t columns = 0;
};

class Progress {
 public:
  Progress(std::int64_t steps, ShownOn where) : m_steps(steps), m_where(where) {}

  // Call this after every step. If `logged` is true, the step gets a line that stays. A terminal's
  // live line is redrawn below it, at most ten times a second.
  void show(StepMetrics const& row, RunClock const& clock, bool logged);

 private:
  std::int64_t m_steps;
  ShownOn m_where;
  std::optional<double> m_drawn_at_s;  // by RunClock::elapsed_s
};

// Returns a line of at most kPageColumns (base/wrapped.hpp) such as "step 120/600  loss 1.2345  lr
// 6.00e-04  norm 1.23   8192 tok/s  ETA 3m20s", with the MFU before the ETA where it is known.
// Where that is too long, it lacks first the learning rate, then the MFU, then the norm, which are
// all in metrics.jsonl.
std::string progress_line(StepMetrics const& row, std::int64_t steps, double left_s);

// Returns a line such as "valid 1.2345 at step 120", or "" if the row is not of an evaluation.
std::string valid_line(StepMetrics const& row);

// Returns a text such as "1.2345", or "none" if there was no target.
std::string loss_text(LossSums const& loss);

}  // namespace spillway
