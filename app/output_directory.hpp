// Which directories --force may replace: those that hold what the command makes, and nothing else.
#pragma once

#include <filesystem>

#include "io/file/new_directory.hpp"

namespace spillway {

// What lies in the directory beside its own entries may be a user's: then it is not replaced.
bool is_checkpoint_alone(std::filesystem::path const& directory);
bool is_model_alone(std::filesystem::path const& directory);  // of Hugging Face

// Nothing may be replaced without `force`.
NewDirectory::MayReplace replaceable(bool force, bool (*is_alone)(std::filesystem::path const&));

}  // namespace spillway
