// Reads what a directory that model.import names says to an input file.
#pragma once

#include <string>

#include "config/config.hpp"

namespace spillway {

// Serves load_config. Returns the model that the directory's config.json describes, the special ids
// that it knows, and run.init if weights lie beside it, which then say whether the head is tied.
// Throws Error; bad_input names the file and its key.
Config import_model(std::string const& directory);

}  // namespace spillway
