// Files of a directory that may be a stranger's: its links lead nowhere else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "io/file/file.hpp"

namespace spillway {

// The regular file `name`, without a folder before it, of `directory`. A link is followed where it
// leads to a file below `directory`, or, in a cache of the Hugging Face hub
// (models--x/snapshots/REV), to one in models--x/blobs. What is judged is what is open: replacing
// it meanwhile gains nothing. Throws Error(bad_input) in one line that names file and reason; waits
// for no pipe and opens no device.
FileDescriptor open_inside(std::filesystem::path const& directory, std::string const& name);

// The whole of it. Throws the same, also when it is larger than `most_bytes`.
std::string read_inside(std::filesystem::path const& directory, std::string const& name,
                        std::int64_t most_bytes);

}  // namespace spillway
