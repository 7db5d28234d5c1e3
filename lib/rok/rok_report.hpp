// Measured curves as text: a table for people, CSV for programs, a script that draws them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rok/rok.hpp"

namespace spillway {

// One line, for the progress of a long measurement.
std::string rok_line(RokRow const& row);

// With a line that names the columns. Where a point was not measured, its cells are empty.
std::string rok_table(std::span<RokRow const> rows);
std::string rok_csv(std::span<RokRow const> rows);
bool is_rok_csv(std::string_view beginning);

// Says why the smallest of `rows`, of which none fits, does not, and what needs less.
std::string no_point_fits(std::span<RokRow const> rows, AskedPlan const& asked);

// For gnuplot: tokens/s over what the device holds beside persistent state, a curve per policy,
// a point per micro-batch, as SVG. Empty where nothing was measured.
std::string rok_script(std::span<RokRow const> rows);
bool is_rok_chart(std::string_view beginning);

}  // namespace spillway
