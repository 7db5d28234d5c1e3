#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/output_kinds.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "monitor/run_directory.hpp"
#include "plan/data/words.hpp"
#include "report/page/page.hpp"
#include "report/page/run_files.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// Returns where the page goes: into the one directory that is named, unless a name is given.
fs::path output_of(ReportArguments const& arguments) {
  if (!arguments.output.empty()) return arguments.output;
  if (arguments.directories.size() > 1)
    throw Error(Status::bad_input,
                "report: of several runs there is one page: give it a name, as -o page.html");
  return fs::path(arguments.directories.front()) / "report.html";
}

// Returns the runs that are meant: a directory that is no run stands for those that lie in it.
std::vector<fs::path> runs_of(std::vector<std::string> const& directories) {
  std::vector<fs::path> all;
  for (auto const& directory : directories) {
    auto runs = is_run_directory(directory) ? std::vector<fs::path>() : runs_below(directory);
    std::erase_if(runs, has_only_lock);  // of which there is nothing to show yet
    if (runs.empty()) all.emplace_back(directory);
    all.insert(all.end(), runs.begin(), runs.end());
  }
  return all;
}

// Returns the files that the command reads.
std::vector<fs::path> read_by(PageParts const& parts) {
  std::vector<fs::path> files;
  if (!parts.rok.empty()) files.push_back(parts.rok);
  for (auto const& directory : parts.directories)
    for (auto& file : files_of_run(directory)) files.push_back(std::move(file));
  return files;
}

}  // namespace

Status run_report(ReportArguments const& arguments) {
  PageParts const parts{runs_of(arguments.directories), arguments.rok};
  auto const path = output_of(arguments);
  // Runs are looked at first: where there is none, that is what the user wants to hear.
  auto const html = page_html(page_data(parts));
  Output const output(path, {kPageOutput, read_by(parts), arguments.force});
  write_output(output, html);
  tell_written(output,
               fmt::format("{}: {}, a page of {} that any browser opens\n", path.string(),
                           human_bytes(static_cast<std::int64_t>(html.size())),
                           count(static_cast<std::int64_t>(parts.directories.size()), "run")));
  return Status::done;
}

}  // namespace spillway
