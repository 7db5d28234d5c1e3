// Reads the settings that a directory gives an input file whose model.import names it.
#pragma once

#include <string>

#include "config/config.hpp"
#include "config/load.hpp"

namespace spillway {

// Programs hand this function to load_config. It returns a Config with the model that the
// directory's config.json describes, the special ids that it knows, and run.init if weights lie
// beside it, which then say whether the head is tied. A directory of PEFT adds its adapters to the
// model that it names. A checkpoint of this program, or a run
// directory, which stands for its newest one, has its own model and ids, and is run.init. Throws
// Error; bad_input names the file and its key.
Config import_model(std::string const& directory);

// Returns the same function for a command to which --base may say where the model of adapters is.
ImportModel import_model_beside(std::string const& base);

}  // namespace spillway
