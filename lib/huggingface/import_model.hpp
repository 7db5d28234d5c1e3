// model.import: the model section of an input file from a directory of Hugging Face.
#pragma once

#include <string>

#include "config/config.hpp"

namespace spillway {

// For load_config: the model that config.json of the directory describes and, where weights lie
// beside it, they: whether a head is tied is theirs to say. Throws Error, bad_input where it names
// a file and its key.
ModelConfig import_model(std::string const& directory);

}  // namespace spillway
