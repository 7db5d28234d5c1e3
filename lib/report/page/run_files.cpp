#include "report/page/run_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/number.hpp"
#include "config/load.hpp"
#include "report/page/plan_cells.hpp"
#include "report/page/plan_record.hpp"
#include "report/page/rok_points.hpp"
#include "report/page/trace_lanes.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostFileBytes = std::int64_t{1} << 30;
constexpr std::size_t kMostTracedSteps = 3, kMostTracedPieces = 12'000;

bool is_file(fs::path const& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// Returns the text of a file, or nothing and a note if it cannot be read.
std::optional<std::string> text_of(RunFiles& run, std::string const& name) {
  try {
    return read_input(run.directory / name, kMostFileBytes);
  } catch (Error const& error) {
    run.notes.emplace_back(error.what());
    return {};
  }
}

// Returns the object in a file, null if there is none, and null and a note if it is none.
PageJson object_in(RunFiles& run, std::string const& name) {
  if (!is_file(run.directory / name)) return nullptr;
  auto const text = text_of(run, name);
  if (!text) return nullptr;
  auto json = PageJson::parse(*text, nullptr, false);
  if (json.is_object()) return json;
  run.notes.push_back(name + " is damaged, and left out.");
  return nullptr;
}

void read_rows(RunFiles& run) {
  auto const path = run.directory / "metrics.jsonl";
  if (!is_file(path)) {
    run.notes.emplace_back("metrics.jsonl is not there: no step has been logged.");
    return;
  }
  std::ifstream lines(path);
  run.rows = read_metric_rows(lines);
  if (run.rows.unread_rows > 0)
    run.notes.push_back(fmt::format(
        "{} of metrics.jsonl cannot be read, and {} left out.",
        run.rows.unread_rows == 1 ? "One line" : fmt::format("{} lines", run.rows.unread_rows),
        run.rows.unread_rows == 1 ? "is" : "are"));
}

// Returns whether a job has begun since the summary was written. Times in UTC are in order as
// texts.
bool is_of_an_earlier_job(PageJson const& summary, std::vector<PageJson> const& events) {
  auto const ended = summary.find("ended");
  if (ended == summary.end() || !ended->is_string()) return false;
  return std::ranges::any_of(events, [&](PageJson const& event) {
    auto const time = event.find("time");
    bool const begins = event.at("event") == "start" || event.at("event") == "resume";
    return begins && time != event.end() && *time > *ended;
  });
}

void read_summary(RunFiles& run) {
  run.summary = object_in(run, "summary.json");
  bool const is_old = run.summary.is_object() && is_of_an_earlier_job(run.summary, run.rows.events);
  if (is_old) run.summary = nullptr;
  if (is_old || (run.summary.is_null() && !is_file(run.directory / "summary.json")))
    run.notes.emplace_back(
        "There is no summary.json of the last job: the run goes on, or was killed. Measured peaks "
        "are those of the "
        "last logged step, and what ops and ranks took is not known.");
}

void read_plan(RunFiles& run) {
  run.plan = object_in(run, "plan.json");
  if (run.plan.is_null()) {
    if (!is_file(run.directory / "plan.json"))
      run.notes.emplace_back(
          "There is no plan.json, as older versions wrote none: memory and lanes of the planned "
          "step are not shown.");
  } else if (number_in(run.plan, kPlanRecordKey, 0) != kPlanRecordForm) {
    run.notes.emplace_back("plan.json is of another version, and left out.");
    run.plan = nullptr;
  }
}

void read_config(RunFiles& run) {
  if (!is_file(run.directory / "config.yaml")) return;
  auto const text = text_of(run, "config.yaml");
  if (!text) return;
  try {
    run.config = parse_config(*text, "config.yaml", {}, elsewhere);
  } catch (Error const& error) {
    run.notes.push_back(fmt::format("{}; its values are left out.", error.what()));
  }
}

std::optional<std::int64_t> step_of_plan(std::string const& name) {
  return name == "plan.yaml" ? 0 : number_between("plan-", name, ".yaml");
}

void read_plans(RunFiles& run) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator(run.directory, ignored)) {
    auto const name = entry.path().filename().string();
    if (auto const step = step_of_plan(name); step && is_file(entry.path()))
      found.emplace_back(*step, name);
  }
  std::ranges::sort(found);
  for (auto const& [step, name] : found) {
    auto const text = text_of(run, name);
    if (!text) continue;
    PageJson plan = {{"file", name}, {"step", step}};
    plan.update(plan_cells(*text));
    run.plans.push_back(std::move(plan));
  }
}

void read_trace(RunFiles& run) {
  if (!is_file(run.directory / "trace.json")) return;
  std::ifstream lines(run.directory / "trace.json");
  run.traces = trace_lanes(lines, kMostTracedSteps, kMostTracedPieces);
  if (run.traces.empty()) run.notes.emplace_back("trace.json has no step, and is left out.");
}

void require_run(fs::path const& directory) {
  auto const refuse = [&](char const* why) {
    throw Error(Status::bad_input, fmt::format("{}: {}", directory.string(), why));
  };
  std::error_code ignored;
  if (!fs::exists(directory, ignored)) refuse("is not there");
  if (!fs::is_directory(directory, ignored)) refuse("is no directory: name that of a run");
  for (auto const* name : {"metrics.jsonl", "config.yaml", "plan.yaml"})
    if (is_file(directory / name)) return;
  refuse("is not the directory of a run: it has neither metrics.jsonl nor config.yaml");
}

}  // namespace

RunFiles read_run_files(fs::path const& directory, fs::path const& rok) {
  require_run(directory);
  RunFiles run;
  run.directory = directory;
  read_rows(run);
  run.environment = object_in(run, "environment.json");
  read_config(run);
  read_summary(run);
  read_plans(run);
  read_plan(run);
  read_trace(run);
  auto const table = rok.empty() ? directory / "rok.csv" : rok;
  if (!rok.empty() || is_file(table)) run.rok = rok_points(read_input(table, kMostFileBytes));
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
