// Says how commands recognise files that they have written before, and which files commands read.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "io/file/output.hpp"
#include "plan/data/machine_file.hpp"
#include "plan/trace/trace.hpp"
#include "report/page/page.hpp"
#include "rok/rok_report.hpp"

namespace spillway {

// A plan that --save writes begins with this line. Plans in run directories do not have the line,
// because they are records that no command may replace.
inline constexpr std::string_view kPlanHead = "# a plan, saved by spillway\n";

inline constexpr OutputKind kPlanOutput{
    "a plan", [](std::string_view beginning) { return beginning.starts_with(kPlanHead); }};
inline constexpr OutputKind kMachineOutput{"a machine file", [](std::string_view beginning) {
                                             return beginning.starts_with(kMeasuredHead);
                                           }};
// The trace of a run is a record, too, and begins with another event.
inline constexpr OutputKind kTraceOutput{"a predicted trace", begins_predicted_trace};
inline constexpr OutputKind kCurveOutput{"a curve", is_rok_csv};
inline constexpr OutputKind kChartOutput{"a chart", is_rok_chart};
inline constexpr OutputKind kPageOutput{"a report", is_report_page};

// Returns the files that a command reads: its input file, and the saved plan, machine file and
// token files that the Config names.
std::vector<std::filesystem::path> files_read(std::string const& input, Config const& config);

// Prints `text`, which says that the output was written. Prints it to stderr if the output itself
// goes to stdout.
void tell_written(Output const& output, std::string_view text);

// Says on stderr that a file was written. Says nothing of a device or a pipe.
void say_wrote(Output const& output);

}  // namespace spillway
