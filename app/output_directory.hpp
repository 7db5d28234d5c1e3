// --force may replace a directory only if it holds nothing but what the command makes.
#pragma once

#include <filesystem>

#include "io/file/new_directory.hpp"

namespace spillway {

// is_checkpoint_alone returns whether a directory holds nothing but a checkpoint, and
// is_model_alone whether it holds nothing but a model in the format of Hugging Face.
bool is_checkpoint_alone(std::filesystem::path const& directory);
bool is_model_alone(std::filesystem::path const& directory);

// Returns the function that decides whether a directory that is not empty may be replaced:
// `is_alone` or, without `force`, null, so that no such directory is replaced.
NewDirectory::MayReplace replaceable(bool force, bool (*is_alone)(std::filesystem::path const&));

}  // namespace spillway
