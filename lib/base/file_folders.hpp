// The FileFolders are where small files of a model lie: of each name, the one in the first folder
// that has it.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace spillway {

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
    std::error_code ignored;  // what cannot be looked at is told when it is read
    for (auto const& folder : m_folders)
      if (std::filesystem::exists(std::filesystem::symlink_status(folder / name, ignored)))
        return folder / name;
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
