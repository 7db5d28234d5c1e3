// Opens and reads input files. Only regular files are allowed, because a read from a pipe or a
// device may block for ever.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/unique_handle.hpp"

namespace spillway {

void close_descriptor(int fd) noexcept;
using FileDescriptor = UniqueHandle<int, close_descriptor, -1>;

// Throws Error(bad_input), which names the file, if the file cannot be opened or is a directory, a
// pipe, a device or a socket.
FileDescriptor open_for_reading(std::filesystem::path const& path);

// Throws Error(bad_input) unless the open file, which messages call `path`, is a regular file.
void require_regular(FileDescriptor const& file, std::filesystem::path const& path);

// Returns the whole content of a file. What the user's shell has opened (/dev/stdin, /dev/fd/63)
// may be a pipe. Throws Error, which names the file: bad_input if it cannot be read or is larger
// than `most_bytes`, cannot_fit if there is no memory for it.
std::string read_input(std::filesystem::path const& path, std::int64_t most_bytes);
// Returns what is left of an open file, from its current position on. Throws Error, which calls the
// file `path`: bad_input if it cannot be read or more than `most_bytes` are left, cannot_fit if
// there is no memory for them.
std::string read_input(FileDescriptor const& file, std::filesystem::path const& path,
                       std::int64_t most_bytes);

}  // namespace spillway
