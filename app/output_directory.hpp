// --force may replace a directory only if it holds nothing but what the command makes.
#pragma once

#include <filesystem>

#include "io/file/new_directory.hpp"

namespace spillway {

// These functions return whether a directory holds nothing but a checkpoint, or nothing but a model
// in the format of Hugging Face. Any other file in it may be a user's.
bool is_checkpoint_alone(std::filesystem::path const& directory);
bool is_model_alone(std::filesystem::path const& directory);

// Returns the function that decides whether an existing directory may be replaced: `is_alone` or,
// without `force`, null, so that no directory is replaced.
NewDirectory::MayReplace replaceable(bool force, bool (*is_alone)(std::filesystem::path const&));

}  // namespace spillway
