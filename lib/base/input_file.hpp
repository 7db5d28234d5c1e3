// Opens and reads input files. They must be regular files, because a read from a pipe or a device
// may block for ever; only what the user's shell has opened, such as /dev/stdin, may be something
// else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/unique_handle.hpp"

namespace spillway {

void close_descriptor(int fd) noexcept;
using FileDescriptor = UniqueHandle<int, close_descriptor, -1>;

// Opens a regular file. Throws Error(bad_input), which names the file, if it cannot be opened or is
// a directory, a pipe, a device or a socket.
FileDescriptor open_for_reading(std::filesystem::path const& path);

// Throws Error(bad_input) unless the open file, which messages call `path`, is a regular file.
void require_regular(FileDescriptor const& file, std::filesystem::path const& path);

// Returns the whole content of a file, which may be a pipe or a device if the user's shell has
// opened it (/dev/stdin or /dev/fd/63, for example). Throws Error(bad_input), which names the file,
// if it cannot be read or is larger than `most_bytes`, and Error(cannot_fit) if there is no memory
// for it.
std::string read_input(std::filesystem::path const& path, std::int64_t most_bytes);
// Returns the rest of an open file, from its current position on. Throws Error(bad_input), which
// names the file `path`, if it cannot be read or has more than `most_bytes` left, and
// Error(cannot_fit) if there is no memory for the rest.
std::string read_input(FileDescriptor const& file, std::filesystem::path const& path,
                       std::int64_t most_bytes);

}  // namespace spillway
