#include "monitor/runs_table.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "config/difference.hpp"
#include "monitor/run_directory.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// Values of keys that do not fit behind the last column go on in further lines.
constexpr char kRow[] = "{:<{}}  {:<11} {:>11} {:>8} {:>8} {:>8} {:>8}  {}";

std::string short_state(RunRecord const& run) {
  if (run.at_work.works == true) return "at work";
  if (!run.at_work.works) return "not known";
  if (run.history.jobs().empty()) return "not begun";
  auto const exit = last_exit(run);
  if (!exit) return "told no end";
  if (*exit == static_cast<int>(Status::done)) return "done";
  return *exit == static_cast<int>(Status::requeue) ? "stopped" : fmt::format("ended: {}", *exit);
}

std::string last_of(std::vector<LossPoint> const& points) {
  return points.empty() ? "-" : fmt::format("{:.4f}", points.back().loss);
}

std::string least_text(std::vector<LossPoint> const& points) {
  auto const* const least = least_of(points);
  return least == nullptr ? "-" : fmt::format("{:.4f}", least->loss);
}

std::string seconds_or_dash(double seconds) {
  return seconds > 0 ? human_duration(seconds) : "-";
}

// Returns for each run the keys in which any two of them differ, with its own values, such as
// "optim.lr=0.001".
std::vector<std::string> own_values(std::vector<RunRecord> const& runs) {
  auto const first =
      std::ranges::find_if(runs, [](auto const& it) { return it.config.has_value(); });
  std::map<std::string, std::string> of_first;
  std::vector<std::map<std::string, std::string>> of_runs(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].config) continue;
    for (auto const& line : differences(*first->config, *runs[i].config)) {
      auto const key = line.substr(0, line.find(' '));
      // What `auto` has found free or chosen is not what makes runs different.
      if (key.starts_with("memory.") || key.starts_with("plan.")) continue;
      auto const values = line.substr(key.size() + 1);
      auto const arrow = values.find(" -> ");
      of_first[key] = values.substr(0, arrow);
      of_runs[i][key] = values.substr(arrow + 4);
    }
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<std::string> words;
    for (auto const& [key, value] : of_first)
      words.push_back(key + "=" + (of_runs[i].contains(key) ? of_runs[i][key] : value));
    texts.push_back(runs[i].config ? fmt::format("{}", fmt::join(words, " "))
                                   : runs[i].config_trouble);
  }
  return texts;
}

}  // namespace

std::vector<RunRecord> read_runs(fs::path const& directory) {
  std::vector<RunRecord> runs;
  for (auto const& path : runs_below(directory)) runs.push_back(read_run(path));
  return runs;
}

std::string runs_table(std::vector<RunRecord> const& runs, fs::path const& directory) {
  std::size_t width = 3;
  std::vector<std::string> names;
  for (auto const& run : runs) names.push_back(run.dir.lexically_relative(directory).string());
  for (auto const& name : names) width = std::max(width, name.size());
  auto const values = own_values(runs);
  std::string text;
  auto const add = [&](auto const&... cells) {
    auto const line = fmt::format(kRow, cells...);
    text += wrapped_line(without_trailing_blanks(line), "    ");
  };
  add("run", width, "state", "step", "loss", "valid", "a step", "left", "");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto const& run = runs[i];
    bool const may_go_on = run.at_work.works != false;
    auto const step = fmt::format("{}{}", steps_done(run),
                                  run.config ? fmt::format("/{}", run.config->run.steps) : "");
    add(names[i], width, short_state(run), step, last_of(run.history.losses()),
        least_text(run.history.valid_losses()), seconds_or_dash(measured_step_s(run)),
        seconds_or_dash(may_go_on ? left_s(run).value_or(0) : 0), values[i]);
  }
  return text;
}

}  // namespace spillway
