// Lists what is in a directory.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace spillway::test {

// Returns the sorted names of all files and folders in the directory, without paths.
inline std::vector<std::string> names_in(std::filesystem::path const& directory) {
  std::vector<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace spillway::test
