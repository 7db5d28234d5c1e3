// Finds the files that a command was given: by their names, in directories, and in lists.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace spillway {

struct ListedInputs {
  std::vector<std::filesystem::path> files;  // "-" is stdin
  // How many files of directories have endings that are not known, and one of them.
  std::int64_t left_out = 0;
  std::filesystem::path one_left_out;
};

// Lists what `given` names, in this order, and then what the lines of the file `list` name, which
// may be "-" for stdin, or empty. Of a directory all files of known endings are taken, in those
// below it too, sorted by their paths; nothing whose name begins with a dot, and no directory that
// a link leads to. Throws Error(bad_input) that names a directory without any such file, or what
// cannot be read, or if stdin is named twice.
ListedInputs list_inputs(std::span<std::string const> given, std::string const& list);

}  // namespace spillway
