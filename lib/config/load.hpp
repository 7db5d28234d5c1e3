// Makes a checked Config from an input file and the words behind it on the command line.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "config/check.hpp"
#include "config/config.hpp"

namespace spillway {

// Says for which machine a Config is checked. The function `elsewhere` is for a Config that an
// earlier run wrote, maybe on another machine.
using WhichMachine = std::function<ForMachine(Config const&)>;
inline ForMachine on_host(Config const&) {
  return ForMachine::here;
}
inline ForMachine elsewhere(Config const&) {
  return ForMachine::other;
}

// Returns what the directory that model.import names says: the model with nothing left to `auto`,
// those ids of `data` that the directory knows, and run.init if the directory has weights. If the
// std::function is empty, model.import is refused.
using ImportModel = std::function<Config(std::string const& directory)>;

// Reads the file and the overrides, of which the last one for a key wins, and then checks all
// values together. In an override "a.b.c=value" the value is taken as it stands, or as YAML if it
// is in brackets or braces and the key takes a list or is a group. Variables in paths are expanded.
// Only what `import_model` reads must exist, not data or other directories. Throws Error(bad_input)
// in one line that names the place. `run.dir: auto` becomes runs/NAME by the name of the file.
Config load_config(std::string const& path, std::span<std::string const> overrides = {},
                   WhichMachine const& where = on_host, ImportModel const& import_model = {});

// Makes a checked Config from a text, such as the configuration kept in a checkpoint, by the rules
// of load_config, except that `run.dir: auto` stays empty. `source` names the text in errors.
Config parse_config(std::string const& text, std::string const& source,
                    std::span<std::string const> overrides = {},
                    WhichMachine const& where = on_host, ImportModel const& import_model = {});

// Reads a saved plan (`plan.file`), which has the keys of the section `plan` except plan.replan, as
// a run writes them to plan.yaml. Throws Error(bad_input).
PlanConfig load_plan(std::string const& path);

// Returns the Config with the saved plan that `plan.file` names, if that names one. All values are
// checked together, for example whether the plan has more activations than the model has layers.
// Throws Error(bad_input).
Config with_saved_plan(Config config, WhichMachine const& where = on_host);

}  // namespace spillway
