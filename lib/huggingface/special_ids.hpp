// Tokens that stand for something else than text, in a Hugging Face directory.
#pragma once

#include <filesystem>

#include "config/config.hpp"
#include "huggingface/description.hpp"

namespace spillway {

// Sets those ids of `data` that the directory says of its model: the end of a text, and what its
// objective needs. The others stay as they are. Throws Error(bad_input) that names a file which
// cannot be read, is no JSON, or is larger than what is carried.
void read_special_ids(std::filesystem::path const& directory, ModelDescription const& description,
                      DataConfig& data);

}  // namespace spillway
