// The small files beside the weights of a model: its configuration and its tokenizer.
#pragma once

#include <filesystem>
#include <string>

#include "io/h5/carried_files.hpp"

namespace spillway {

// Whether import takes a file of this name along, and export puts it beside the weights again. No
// other is: none with weights of any format, none with code.
bool is_model_file(std::string const& name);

// Those of a stranger's directory. Each is opened once, as open_inside does it, and looked at: a
// .json is JSON, a .model one of SentencePiece or text, the others are text. Throws
// Error(bad_input) naming the file that is something else, cannot be read, or is larger than what
// is carried.
CarriedFiles read_model_files(std::filesystem::path const& directory);

// One that special_ids looks into. Throws as above.
std::string read_model_file(std::filesystem::path const& directory, std::string const& name);

}  // namespace spillway
