// Writes measured curves as a table for people, as CSV, and as a gnuplot script.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rok/rok.hpp"

namespace spillway {

// Returns a line about one point, which is shown while others are still measured.
std::string rok_line(RokRow const& row);

// rok_table returns a table for people, and rok_csv returns CSV. Both begin with a line that names
// the columns. If a point was not measured, its columns of measurements are empty.
std::string rok_table(std::span<RokRow const> rows);
std::string rok_csv(std::span<RokRow const> rows);
bool is_rok_csv(std::string_view beginning);

// Returns a text for the case that no row fits: why the row with the smallest planned device peak
// does not, and what would need less.
std::string no_point_fits(std::span<RokRow const> rows, AskedPlan const& asked);

// A RokCaption says what was measured and where, for the title of a chart.
struct RokCaption {
  std::string model;    // such as "gpt, 12 layers of 768, 124 M parameters, bf16"
  std::string machine;  // such as "AMD EPYC 9654, 2 threads"
  std::string date;     // such as "2026-01-31"
  std::int64_t steps;   // that were counted for a point
};

// Returns a gnuplot script that draws an SVG: the time of a sequence over the device's peak, with a
// line for the planner and for each size of micro-batches, a mark for each policy, and bars from
// the least to the most that a step took. Returns "" if nothing was measured.
std::string rok_script(std::span<RokRow const> rows, RokCaption const& caption);
bool is_rok_chart(std::string_view beginning);

}  // namespace spillway
