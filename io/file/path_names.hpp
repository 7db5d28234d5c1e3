// These functions work on the text of a path and do not look at the file system.
#pragma once

#include <filesystem>

namespace spillway {

// Returns the path without a slash at its end: "a/b" for "a/b/".
inline std::filesystem::path without_slash(std::filesystem::path const& directory) {
  return directory.has_filename() ? directory : directory.parent_path();
}

// Returns the directory in which a file or a directory lies: "a" for "a/b", "." for "b".
inline std::filesystem::path directory_of(std::filesystem::path const& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

}  // namespace spillway
