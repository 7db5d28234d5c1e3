// What the text of a path names.
#pragma once

#include <filesystem>

namespace spillway {

// "a/b" of "a/b/".
inline std::filesystem::path without_slash(std::filesystem::path const& directory) {
  return directory.has_filename() ? directory : directory.parent_path();
}

// Where a file or a directory lies: "a" of "a/b", "." of "b".
inline std::filesystem::path directory_of(std::filesystem::path const& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

}  // namespace spillway
