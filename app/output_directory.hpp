// --force may replace a directory only if it holds nothing but what the command makes.
#pragma once

#include <filesystem>

#include "io/file/new_directory.hpp"

namespace spillway {

// Anything else in the directory may be a user's file, so these functions return false then.
bool is_checkpoint_alone(std::filesystem::path const& directory);
bool is_model_alone(std::filesystem::path const& directory);  // in the format of Hugging Face

// Returns what decides whether an existing directory may be replaced. Without `force`, none may.
NewDirectory::MayReplace replaceable(bool force, bool (*is_alone)(std::filesystem::path const&));

}  // namespace spillway
