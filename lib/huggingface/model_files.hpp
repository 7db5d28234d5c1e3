// The small files beside the weights of a model: its configuration and its tokenizer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace spillway {

// Those of a directory that export puts beside the weights again. Throws Error(storage).
std::vector<std::filesystem::path> model_files(std::filesystem::path const& directory);

// Throws Error(bad_input) naming the file that cannot be read or is larger than what is carried.
std::string read_model_file(std::filesystem::path const& path);

}  // namespace spillway
