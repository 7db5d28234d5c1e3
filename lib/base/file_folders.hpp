// The FileFolders are where small files of a model lie: of several files of one name that in the
// first folder holds.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace spillway {

// Returns whether something has this name, be it a link that leads nowhere. Reading it says then
// what is wrong, and so it does if this cannot be found out.
inline bool is_name_taken(std::filesystem::path const& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

class FileFolders {
 public:
  FileFolders(std::filesystem::path const& only) : m_folders{plain(only)} {}
  FileFolders(std::filesystem::path const& first, std::filesystem::path const& last)
      : m_folders{plain(first), plain(last)} {}

  std::filesystem::path const& first() const { return m_folders.front(); }
  std::filesystem::path const& last() const { return m_folders.back(); }
  auto begin() const { return m_folders.begin(); }
  auto end() const { return m_folders.end(); }

  // Returns the path of the file, which is in the last folder if none has it.
  std::filesystem::path file(std::string_view name) const {
    for (auto const& folder : m_folders)
      if (is_name_taken(folder / name)) return folder / name;
    return last() / name;
  }

 private:
  // Returns the folder as it stands before its files: without a '/' at its end.
  static std::filesystem::path plain(std::filesystem::path const& folder) {
    return (folder / "file").parent_path();
  }

  std::vector<std::filesystem::path> m_folders;
};

}  // namespace spillway
