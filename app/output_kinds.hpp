// What the files that commands write are known by, and what commands read.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "io/file/output.hpp"
#include "plan/data/machine_file.hpp"
#include "rok/rok_report.hpp"

namespace spillway {

// The first line of a plan that was saved. Those in run directories have none: they are a record.
inline constexpr std::string_view kPlanHead = "# a plan, saved by spillway\n";

inline constexpr OutputKind kPlanOutput{
    "a plan", [](std::string_view beginning) { return beginning.starts_with(kPlanHead); }};
inline constexpr OutputKind kMachineOutput{"a machine file", [](std::string_view beginning) {
                                             return beginning.starts_with(kMeasuredHead);
                                           }};
inline constexpr OutputKind kCurveOutput{"a curve", is_rok_csv};
inline constexpr OutputKind kChartOutput{"a chart", is_rok_chart};

// The files that a command reads which is given an input file: that and what it names.
std::vector<std::filesystem::path> files_read(std::string const& input, Config const& config);

// Prints what became of an output; to stderr where the output itself goes to stdout.
void tell_written(Output const& output, std::string_view text);

}  // namespace spillway
