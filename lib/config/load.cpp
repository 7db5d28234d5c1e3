#include "config/load.hpp"

#include "config/assign.hpp"
#include "config/check.hpp"
#include "config/value.hpp"

namespace spillway {
namespace {

Config configured(Value const& root, std::string const& source,
                  std::span<std::string const> overrides) {
  Config config;
  Origins origins;
  assign_file(config, origins, root, source);
  for (auto const& text : overrides) assign_override(config, origins, text);
  check(config, origins);
  return config;
}

}  // namespace

Config load_config(std::string const& path, std::span<std::string const> overrides) {
  return configured(read_yaml(path), path, overrides);
}

Config parse_config(std::string const& text, std::string const& source,
                    std::span<std::string const> overrides) {
  return configured(parse_yaml(text, source), source, overrides);
}

PlanConfig load_plan(std::string const& path) {
  Config config;
  Origins origins;
  assign_group(config, origins, "plan", read_yaml(path), path);
  return config.plan;
}

}  // namespace spillway
