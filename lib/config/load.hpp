// An input file and the words after it on the command line -> a checked Config.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "config/check.hpp"
#include "config/config.hpp"

namespace spillway {

// Says for which machine a Config is to be checked; one that a run has left behind: `elsewhere`.
using WhichMachine = std::function<ForMachine(Config const&)>;
inline ForMachine on_host(Config const&) {
  return ForMachine::here;
}
inline ForMachine elsewhere(Config const&) {
  return ForMachine::other;
}

// What a directory that model.import names says: the model with nothing left to `auto`, those ids
// of `data` that it knows, and run.init where it has weights. Without such a function model.import
// is refused.
using ImportModel = std::function<Config(std::string const& directory)>;

// Reads the file, then the overrides ("a.b.c=value", the value as it stands, or YAML in brackets or
// braces where the key takes a list or is a group; the last one wins), then
// checks the whole. Variables in paths are expanded; nothing else of the system is looked at, so
// neither data nor directories need exist, but what `import_model` reads. Throws Error(bad_input,
// one line naming the place). `run.dir: auto` becomes runs/NAME by the name of the file.
Config load_config(std::string const& path, std::span<std::string const> overrides = {},
                   WhichMachine const& where = on_host, ImportModel const& import_model = {});

// The same for a text, e.g. the configuration kept in a checkpoint; `source` names it in errors.
Config parse_config(std::string const& text, std::string const& source,
                    std::span<std::string const> overrides = {},
                    WhichMachine const& where = on_host, ImportModel const& import_model = {});

// A saved plan (`plan.file`): the keys of the `plan` section, as a run writes them to plan.yaml,
// without plan.replan.
PlanConfig load_plan(std::string const& path);

// The Config with its saved plan read in, if `plan.file` names one, and checked with the rest of
// it: as long as the model has layers, spilling only where there is a path.
Config with_saved_plan(Config config, WhichMachine const& where = on_host);

}  // namespace spillway
