// model.import: what a directory of Hugging Face says to an input file.
#pragma once

#include <string>

#include "config/config.hpp"

namespace spillway {

// For load_config: the model that config.json of the directory describes, the special ids that it
// knows, and run.init where weights lie beside it, which say whether a head is tied. Throws
// Error, bad_input where it names a file and its key.
Config import_model(std::string const& directory);

}  // namespace spillway
