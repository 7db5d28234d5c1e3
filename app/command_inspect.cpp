#include <fmt/core.h>

#include <filesystem>
#include <span>

#include "app/commands.hpp"
#include "app/describe_program.hpp"
#include "base/error.hpp"
#include "base/standard_streams.hpp"
#include "config/load.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/inspect/describe.hpp"
#include "io/safetensors/reader.hpp"
#include "monitor/run_directory.hpp"
#include "monitor/run_record.hpp"
#include "monitor/run_text.hpp"
#include "monitor/runs_table.hpp"
#include "plan/data/plan.hpp"

namespace spillway {
namespace {

// Returns one line for each range of neighbouring words that are equal. The last word also holds
// for all layers or chunks for which `words` has no entry.
std::string describe_list(std::string const& what, std::span<std::string const> words) {
  std::string text;
  for (std::size_t first = 0, next = 0; first < words.size(); first = next) {
    while (next < words.size() && words[next] == words[first]) ++next;
    auto const numbers =
        next - first == 1 ? fmt::format("{}", first) : fmt::format("{} to {}", first, next - 1);
    text += fmt::format("  {} {:<11} {}\n", what, numbers, words[first]);
  }
  return text;
}

std::string describe_plan(std::string const& path) {
  auto const plan = load_plan(path);
  auto text = fmt::format("plan {}\n", path) + describe_list("layer", texts(plan.activations)) +
              describe_list("chunk", texts(plan.update));
  if (plan.prefetch) text += fmt::format("  prefetch          {}\n", *plan.prefetch);
  if (plan.shard_ranks) text += fmt::format("  shard_ranks       {}\n", word(*plan.shard_ranks));
  if (plan.early) text += fmt::format("  early             {} %\n", *plan.early);
  if (plan.group) text += fmt::format("  group             {}\n", *plan.group);
  return text;
}

bool is_json(std::filesystem::path const& path) {
  return path.extension() == ".json" && !std::filesystem::is_directory(path) &&
         !is_safetensors(path);
}

// Describes the run that has written a file of which there is nothing else to say.
std::string describe_run_of(std::filesystem::path const& file, std::filesystem::path const& run) {
  return fmt::format("{}: {}\n", file.string(), words_of_run_file(file.filename().string())) +
         describe_run(read_run(run));
}

std::string describe_anything(std::filesystem::path const& path, std::string const& machine) {
  if (auto const run = run_of_file(path)) return describe_run_of(path, *run);
  if (is_json(path)) return describe_program(path.string(), machine);
  if (is_run_directory(path)) return describe_run(read_run(path));
  bool const has_weights = is_safetensors(path);
  auto const runs = has_weights ? std::vector<RunRecord>() : read_runs(path);
  if (!runs.empty()) return runs_table(runs, path);
  bool const is_directory = std::filesystem::is_directory(path);
  if (is_directory && !has_weights && !std::filesystem::exists(path / manifest_name))
    throw Error(Status::bad_input,
                fmt::format("{}: holds no run, no checkpoint and no weights", path.string()));
  bool const is_plan = path.extension() == ".yaml";
  return is_plan ? describe_plan(path.string()) : describe(path);
}

}  // namespace

Status run_inspect(std::string const& path, std::string const& machine) {
  if (!machine.empty() && (run_of_file(path) || !is_json(path)))
    throw Error(
        Status::bad_input,
        fmt::format("--machine: {} {}; nothing else takes time on a machine", path, kNoProgram));
  print_result(describe_anything(path, machine));
  return Status::done;
}

}  // namespace spillway
