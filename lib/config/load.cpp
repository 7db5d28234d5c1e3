#include "config/load.hpp"

#include "config/assign.hpp"
#include "config/check.hpp"
#include "config/value.hpp"

namespace spillway {
namespace {

Config configured(Value const& root, std::string const& source,
                  std::span<std::string const> overrides, WhichMachine const& where) {
  Config config;
  Origins origins;
  assign_file(config, origins, root, source);
  for (auto const& text : overrides) assign_override(config, origins, text);
  check(config, origins, where(config));
  return config;
}

// Into `config`, in place of its plan; nothing else of a plan is known here. Whether it may be
// changed later is the run's affair.
void read_plan(Config& config, Origins& origins, std::string const& path) {
  bool const replan = config.plan.replan;
  config.plan = {};
  config.plan.replan = replan;
  assign_group(config, origins, "plan", read_yaml(path), path);
  if (!config.plan.file.empty())
    refuse({origins.at("plan.file"), "plan.file"}, "a saved plan names no other one");
}

}  // namespace

Config load_config(std::string const& path, std::span<std::string const> overrides,
                   WhichMachine const& where) {
  return configured(read_yaml(path), path, overrides, where);
}

Config parse_config(std::string const& text, std::string const& source,
                    std::span<std::string const> overrides, WhichMachine const& where) {
  return configured(parse_yaml(text, source), source, overrides, where);
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
