#include "config/load.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "config/assign.hpp"
#include "config/check.hpp"
#include "config/keys.hpp"
#include "config/place.hpp"
#include "config/value.hpp"

namespace spillway {
namespace {

// If model.import names a directory, replaces the model by the one in the directory, except for
// dropout, for what is frozen and how, and, if the directory has no adapters, for adapters. Ids of
// tokens and run.init become what the directory says unless the input gives them.
void fill_model(Config& config, Origins const& origins, ImportModel const& import_model) {
  auto const before = config.model;
  if (before.import_from.empty()) return;
  if (!import_model)
    refuse({origins.at("model.import"), "model.import"},
           "is for input files; a configuration that was written has the model itself");
  auto const imported = import_model(before.import_from);
  bool const has_adapters = imported.model.lora.rank > 0;
  for (Key const& key : keys_of(config)) {
    auto const given = origins.find(key.name);
    bool const is_open = (key.is_in("model.lora") && !has_adapters) || key.is_in("model.quantize");
    if (key.scope == Scope::model && !is_open && given != origins.end())
      refuse({given->second, given->first}, "model.import decides it; leave out one of them");
  }
  config.model = imported.model;
  config.model.import_from = before.import_from;
  config.model.dropout = before.dropout;
  config.model.attention_dropout = before.attention_dropout;
  config.model.freeze = before.freeze;
  config.model.quantize = before.quantize;
  if (!has_adapters) config.model.lora = before.lora;
  config.model.lora.dropout = before.lora.dropout;
  if (config.run.init.empty()) config.run.init = imported.run.init;
  for (auto const id :
       {&DataConfig::mask_id, &DataConfig::pad_id, &DataConfig::eos_id, &DataConfig::sentinel_id})
    if (!(config.data.*id)) config.data.*id = imported.data.*id;
}

// The default of the last learning rate is a tenth of the default of the first one. It is a tenth
// of what the input says too, where it would be more than that.
void lower_min_lr(OptimConfig& optim, Origins const& origins) {
  if (!origins.contains("optim.min_lr") && optim.min_lr > optim.lr) optim.min_lr = optim.lr / 10;
}

Config configured(Value const& root, std::string const& source,
                  std::span<std::string const> overrides, WhichMachine const& where,
                  ImportModel const& import_model) {
  Config config;
  Origins origins;
  assign_file(config, origins, root, source);
  for (auto const& text : overrides) assign_override(config, origins, text);
  fill_model(config, origins, import_model);
  lower_min_lr(config.optim, origins);
  check(config, origins, where(config));
  return config;
}

// Replaces the plan of `config` by a saved one, but keeps plan.replan, which says whether the plan
// may change during the run. Refuses a saved plan that has plan.replan or plan.file.
void read_plan(Config& config, Origins& origins, std::string const& path) {
  bool const replan = config.plan.replan;
  config.plan = {};
  config.plan.replan = replan;
  assign_group(config, origins, "plan", read_yaml(path), path);
  if (!config.plan.file.empty())
    refuse({origins.at("plan.file"), "plan.file"}, "a saved plan names no other one");
  if (auto const given = origins.find("plan.replan"); given != origins.end())
    refuse({given->second, given->first}, "is for the run that uses the plan; leave it out here");
}

// Returns runs/NAME, where NAME comes from the input file, so that two input files have two
// directories. NAME is "stdin" for input from a device, such as standard input, which has no name
// of its own.
std::string run_dir_of(std::string const& input) {
  auto const name = std::filesystem::path(input).stem().string();
  bool const named = !name.empty() && !input.starts_with("/dev/") && !input.starts_with("/proc/");
  return "runs/" + (named ? name : "stdin");
}

}  // namespace

Config load_config(std::string const& path, std::span<std::string const> overrides,
                   WhichMachine const& where, ImportModel const& import_model) {
  if (path.find('=') != path.npos && !std::filesystem::exists(path))
    throw Error(Status::bad_input, path + ": is no input file; one comes first, and keys after it");
  auto config = configured(read_yaml(path), path, overrides, where, import_model);
  if (config.run.dir.empty()) config.run.dir = run_dir_of(path);
  return config;
}

Config parse_config(std::string const& text, std::string const& source,
                    std::span<std::string const> overrides, WhichMachine const& where,
                    ImportModel const& import_model) {
  return configured(parse_yaml(text, source), source, overrides, where, import_model);
}

PlanConfig load_plan(std::string const& path) {
  Config config;
  Origins origins;
  read_plan(config, origins, path);
  return config.plan;
}

Config with_saved_plan(Config config, WhichMachine const& where) {
  if (config.plan.file.empty()) return config;
  Origins origins;
  read_plan(config, origins, std::string(config.plan.file));
  check(config, origins, where(config));
  return config;
}

}  // namespace spillway
