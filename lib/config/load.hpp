// Makes a checked Config from an input file and the overrides on the command line.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "config/check.hpp"
#include "config/config.hpp"

namespace spillway {

// A WhichMachine says for which machine a Config is checked: `on_host` for a run on the cores of
// this machine, `elsewhere` for a Config that an earlier run wrote, maybe on another machine.
using WhichMachine = std::function<ForMachine(Config const&)>;
inline ForMachine on_host(Config const&) {
  return ForMachine::here;
}
inline ForMachine elsewhere(Config const&) {
  return ForMachine::other;
}

// An ImportModel returns a Config with what a directory of Hugging Face says: the whole model
// without any `auto`, the ids of tokens that the directory knows, and run.init if the directory has
// weights. If no ImportModel is given, an input file with model.import is refused.
using ImportModel = std::function<Config(std::string const& directory)>;

// Reads the input file and the overrides "key=value", of which the last one for a key wins, and
// then checks all values together. A value in brackets or braces is YAML if the key takes a list or
// is a group; any other value is plain text. Variables in paths are expanded. Data and other
// directories need not exist, except what `import_model` reads. `run.dir: auto` becomes runs/NAME,
// where NAME is that of the input file. Throws Error(bad_input), which says where the wrong value
// was given.
Config load_config(std::string const& path, std::span<std::string const> overrides = {},
                   WhichMachine const& where = on_host, ImportModel const& import_model = {});

// Makes a checked Config from a text, such as the configuration kept in a checkpoint, by the rules
// of load_config, except that `run.dir: auto` stays empty. `source` names the text in errors.
Config parse_config(std::string const& text, std::string const& source,
                    std::span<std::string const> overrides = {},
                    WhichMachine const& where = on_host, ImportModel const& import_model = {});

// Reads a saved plan, as a run writes it to plan.yaml. It has the keys of the section `plan` except
// plan.file and plan.replan. Throws Error(bad_input).
PlanConfig load_plan(std::string const& path);

// Returns `config` with the saved plan that plan.file names instead of its own, or unchanged if
// plan.file is empty. All values are checked together, for example whether the plan has more
// activations than the model has layers. Throws Error(bad_input).
Config with_saved_plan(Config config, WhichMachine const& where = on_host);

}  // namespace spillway
