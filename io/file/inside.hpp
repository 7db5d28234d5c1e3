// Opens files of a directory that may be a stranger's, without following links out of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "io/file/file.hpp"

namespace spillway {

// Opens the regular file in `directory` that is called `name`, which has no '/' in it. A link is
// followed only to a file below `directory` or, in a cache of the Hugging Face hub
// (models--x/snapshots/REV), to a file in models--x/blobs. The file is checked once it is open, so
// replacing it during the check changes nothing. Throws Error(bad_input) in one line that names the
// file and the reason. Does not wait for pipes, and opens no device.
FileDescriptor open_inside(std::filesystem::path const& directory, std::string const& name);

// Opens a file by open_inside and returns the whole of it. Throws what open_inside throws,
// Error(bad_input) if the file is larger than `most_bytes`, and Error(cannot_fit) if there is no
// memory for it.
std::string read_inside(std::filesystem::path const& directory, std::string const& name,
                        std::int64_t most_bytes);

}  // namespace spillway
