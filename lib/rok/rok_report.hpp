// Writes measured curves as a table for people, as CSV, and as a gnuplot script.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rok/rok.hpp"

namespace spillway {

// Returns one line that reports a point during a long measurement.
std::string rok_line(RokRow const& row);

// rok_table returns a table for people, and rok_csv returns CSV. Both begin with a line that names
// the columns. Points that were not measured have empty cells.
std::string rok_table(std::span<RokRow const> rows);
std::string rok_csv(std::span<RokRow const> rows);
bool is_rok_csv(std::string_view beginning);

// Says why the smallest of `rows` does not fit, and what would need less, if no row fits.
std::string no_point_fits(std::span<RokRow const> rows, AskedPlan const& asked);

// Returns a gnuplot script that draws an SVG: tokens/s over the bytes of the device beyond
// persistent state, with a curve for each policy and a point for each micro-batch. Returns "" if
// nothing was measured.
std::string rok_script(std::span<RokRow const> rows);
bool is_rok_chart(std::string_view beginning);

}  // namespace spillway
