// model.import: the model section of an input file from a directory of Hugging Face.
#pragma once

#include <string>

#include "config/config.hpp"

namespace spillway {

// For load_config: the model that config.json of the directory describes. Throws Error(bad_input)
// that names the file and its key.
ModelConfig import_model(std::string const& directory);

}  // namespace spillway
