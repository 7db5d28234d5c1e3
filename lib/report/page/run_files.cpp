#include "report/page/run_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/number.hpp"
#include "monitor/run_directory.hpp"
#include "report/page/plan_cells.hpp"
#include "report/page/plan_record.hpp"
#include "report/page/rok_points.hpp"
#include "report/page/trace_lanes.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostTableBytes = std::int64_t{1} << 30;
constexpr std::size_t kMostTracedSteps = 3, kMostTracedPieces = 12'000;

bool is_file(fs::path const& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

RunRecord record_of(fs::path const& directory) {
  require_run_directory(directory);
  if (has_only_lock(directory))
    throw Error(Status::bad_input,
                fmt::format("{}: there is nothing but `lock` yet: no job has had a plan here",
                            directory.string()));
  return read_rows_and_texts(directory);
}

void note_troubles(RunFiles& run) {
  auto const& record = run.record;
  if (record.written_at_s == 0)
    run.notes.emplace_back("metrics.jsonl is not there: no step has been logged.");
  if (!record.config) run.notes.push_back(record.config_trouble + "; its values are left out.");
  run.notes.insert(run.notes.end(), record.troubles.begin(), record.troubles.end());
  bool const is_damaged = std::ranges::any_of(
      record.troubles, [](auto& text) { return text.find("summary.json") != text.npos; });
  if (record.summary.is_null() && !is_damaged)
    run.notes.emplace_back(
        "There is no summary.json of the last job: the run goes on, or was killed. Measured peaks "
        "are those of the "
        "last logged step, and what ops and ranks took is not known.");
}

void read_plan(RunFiles& run) {
  auto const& directory = run.record.dir;
  run.plan = object_in(directory, "plan.json", run.notes);
  if (run.plan.is_null()) {
    if (!is_file(directory / "plan.json"))
      run.notes.emplace_back(
          "There is no plan.json, as older versions wrote none: memory and lanes of the planned "
          "step are not shown.");
  } else if (count_at(run.plan, kPlanRecordKey) != kPlanRecordForm) {
    run.notes.emplace_back("plan.json is of another version, and left out.");
    run.plan = nullptr;
  }
}

std::optional<std::int64_t> step_of_plan(std::string const& name) {
  return name == "plan.yaml" ? 0 : number_between("plan-", name, ".yaml");
}

void read_plans(RunFiles& run) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator(run.record.dir, ignored)) {
    auto const name = entry.path().filename().string();
    if (auto const step = step_of_plan(name); step && is_file(entry.path()))
      found.emplace_back(*step, name);
  }
  std::ranges::sort(found);
  for (auto const& [step, name] : found) {
    auto const text = text_in(run.record.dir, name, run.notes);
    if (!text) continue;
    PageJson plan = {{"file", name}, {"step", step}};
    plan.update(plan_cells(*text));
    run.plans.push_back(std::move(plan));
  }
}

void read_trace(RunFiles& run) {
  auto const path = run.record.dir / "trace.json";
  if (!is_file(path)) return;
  std::ifstream lines(path);
  run.traces = trace_lanes(lines, kMostTracedSteps, kMostTracedPieces);
  if (run.traces.empty()) run.notes.emplace_back("trace.json has no step, and is left out.");
}

}  // namespace

RunFiles read_run_files(fs::path const& directory, fs::path const& rok) {
  RunFiles run{.record = record_of(directory)};
  note_troubles(run);
  read_plans(run);
  read_plan(run);
  read_trace(run);
  auto const table = rok.empty() ? directory / "rok.csv" : rok;
  if (!rok.empty() || is_file(table)) run.rok = rok_points(read_input(table, kMostTableBytes));
  return run;
}

std::vector<fs::path> files_of_run(fs::path const& directory) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator(directory, ignored))
    if (entry.path().extension() != ".html") files.push_back(entry.path());
  return files;
}

}  // namespace spillway
