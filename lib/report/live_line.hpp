// Makes the line that a terminal shows while a run goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/metrics.hpp"

namespace spillway {

// A RunClock says for how long this job has trained, and how long it still needs.
struct RunClock {
  double elapsed_s = 0, left_s = 0;
};

// Returns a line of at most `columns` columns, such as
// " 20 % 120/600 loss  3.457 lr 6.00e-04 norm    1.23   8192 tok/s left  13m20s".
// A narrow one has only what matters most, and a bar only beside all that but the time elapsed.
// Fields keep their places from line to line.
std::string live_line(StepMetrics const& row, std::int64_t steps, RunClock const& clock,
                      std::size_t columns);

}  // namespace spillway
