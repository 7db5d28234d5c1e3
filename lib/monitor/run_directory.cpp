#include "monitor/run_directory.hpp"

#include <fmt/core.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "io/file/path_names.hpp"
#include "io/file/read_file.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_names.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostTextBytes = std::int64_t{1} << 30;

bool is_there(fs::path const& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<fs::path> runs_in(fs::path const& directory) {
  std::vector<fs::path> runs;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator(directory, ignored))
    if (is_run_directory(entry.path())) runs.push_back(entry.path());
  return runs;
}

// Returns what a directory is that is no run's, as a part of a sentence.
std::string words_of_other(fs::path const& path) {
  if (is_there(path / manifest_name))
    return fmt::format("but a checkpoint; its run may be {}", directory_of(path).string());
  if (auto const runs = runs_below(path); !runs.empty())
    return fmt::format("but runs lie in it: name one, such as {}", runs.front().string());
  return "which would have config.yaml, metrics.jsonl or lock";
}

}  // namespace

bool is_run_directory(fs::path const& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored) || is_there(path / manifest_name)) return false;
  auto const names = {"config.yaml", "metrics.jsonl", "lock", kLatest};
  return std::ranges::any_of(names, [&](auto* name) { return is_there(path / name); });
}

void require_run_directory(fs::path const& path) {
  if (is_run_directory(path)) return;
  auto const refuse = [&](std::string const& why) {
    throw Error(Status::bad_input, fmt::format("{}: {}", path.string(), why));
  };
  std::error_code ignored;
  if (!is_there(path)) refuse("is not there");
  if (!fs::is_directory(path, ignored)) refuse("is no directory: name that of a run");
  refuse("is no directory of a run, " + words_of_other(path));
}

bool has_only_lock(fs::path const& run_dir) {
  auto const names = {"config.yaml", "metrics.jsonl", "plan.yaml", kLatest};
  return std::ranges::none_of(names, [&](auto* name) { return is_there(run_dir / name); });
}

std::vector<fs::path> runs_below(fs::path const& directory) {
  auto runs = runs_in(directory);
  std::error_code ignored;
  if (runs.empty())
    for (auto const& entry : fs::directory_iterator(directory, ignored))
      for (auto& run : runs_in(entry.path())) runs.push_back(std::move(run));
  std::ranges::sort(runs, [](fs::path const& a, fs::path const& b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;
  });
  return runs;
}

std::string words_of_run_file(std::string const& name) {
  constexpr std::pair<std::string_view, std::string_view> files[] = {
      {"config.yaml", "every key that a run used"},
      {"environment.json", "the build and the machines of a run"},
      {"metrics.jsonl", "the logged steps and the events of a run"},
      {"plan.json", "the plan of a run as `spillway report` draws it"},
      {"plan.txt", "the plan of a run, explained"},
      {"summary.json", "what the last job of a run came to"},
      {"trace.json", "traced steps of a run, for `spillway report` and ui.perfetto.dev"},
      {"lock", "the lock of a run"}};
  auto const* const found = std::ranges::find(files, name, [](auto& file) { return file.first; });
  return found == std::end(files) ? "" : std::string(found->second);
}

std::optional<fs::path> run_of_file(fs::path const& file) {
  auto const directory = directory_of(file);
  bool const is_of_runs = !words_of_run_file(file.filename().string()).empty();
  if (!is_of_runs || !is_run_directory(directory)) return {};
  return directory;
}

std::optional<std::string> text_in(fs::path const& run_dir, std::string const& name,
                                   std::vector<std::string>& troubles) {
  if (!is_there(run_dir / name)) return {};
  try {
    return read_text(run_dir / name, kMostTextBytes);
  } catch (Error const& error) {
    troubles.push_back(fmt::format("{}.", error.what()));
    return {};
  }
}

RunJson object_in(fs::path const& run_dir, std::string const& name,
                  std::vector<std::string>& troubles) {
  auto const text = text_in(run_dir, name, troubles);
  if (!text) return nullptr;
  auto json = RunJson::parse(*text, nullptr, false);
  if (json.is_object()) return json;
  troubles.push_back(name + " is damaged, and left out.");
  return nullptr;
}

}  // namespace spillway
