#include <fmt/core.h>

#include <filesystem>
#include <map>

#include "app/commands.hpp"
#include "app/describe_program.hpp"
#include "app/describe_yaml.hpp"
#include "app/output_kinds.hpp"
#include "base/error.hpp"
#include "base/standard_streams.hpp"
#include "config/load.hpp"
#include "huggingface/adapter_directory.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/inspect/describe.hpp"
#include "io/safetensors/reader.hpp"
#include "model/adapters.hpp"
#include "monitor/run_directory.hpp"
#include "monitor/run_record.hpp"
#include "monitor/run_text.hpp"
#include "monitor/runs_table.hpp"

namespace spillway {
namespace {

bool is_json(std::filesystem::path const& path) {
  return path.extension() == ".json" && !std::filesystem::is_directory(path) &&
         !is_safetensors(path);
}

// Describes the run that has written a file of which there is nothing else to say.
std::string describe_run_of(std::filesystem::path const& file, std::filesystem::path const& run) {
  return fmt::format("{}: {}\n", file.string(), words_of_run_file(file.filename().string())) +
         describe_run(read_run(run));
}

// Returns a text of a file that was made to be looked at elsewhere, or "" if the file is none.
std::string describe_shown(std::filesystem::path const& path) {
  auto const tell = [&](OutputKind const& kind, std::string const& shown_by) {
    return fmt::format("{} {}\n  shown by     {}\n", kind.name, path.string(), shown_by);
  };
  if (is_of_kind(path, kCurveOutput))
    return tell(kCurveOutput, "spillway report RUN --rok " + path.string());
  for (OutputKind const& kind : {kChartOutput, kPageOutput})
    if (is_of_kind(path, kind)) return tell(kind, "a browser");
  return "";
}

// A configuration of another version says nothing here.
std::map<std::string, std::string> told_by(std::string const& text) {
  try {
    auto const config = parse_config(text, "", {}, elsewhere);
    std::map<std::string, std::string> told = {{"data", data_words(config.data)},
                                               {"trains", trained_words(config.model)}};
    std::erase_if(told, [](auto const& one) { return one.second.empty(); });
    return told;
  } catch (Error const&) {
    return {};
  }
}

std::string describe_anything(std::filesystem::path const& path, std::string const& machine) {
  if (auto const run = run_of_file(path)) return describe_run_of(path, *run);
  if (is_adapter_directory(path)) return describe_adapters(path) + describe(adapter_weights(path));
  if (is_json(path)) return describe_program(path.string(), machine);
  if (is_run_directory(path)) return describe_run(read_run(path));
  bool const has_weights = is_safetensors(path);
  auto const runs = has_weights ? std::vector<RunRecord>() : read_runs(path);
  if (!runs.empty()) return runs_table(runs, path);
  bool const is_directory = std::filesystem::is_directory(path);
  if (is_directory && !has_weights && !std::filesystem::exists(path / manifest_name))
    throw Error(Status::bad_input,
                fmt::format("{}: holds no run, no checkpoint and no weights", path.string()));
  if (auto const text = is_directory ? "" : describe_shown(path); !text.empty()) return text;
  bool const is_yaml = path.extension() == ".yaml" || path.extension() == ".yml";
  return is_yaml ? describe_yaml(path.string()) : describe(path, told_by);
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
