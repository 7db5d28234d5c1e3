// Files that are read: regular ones only, for a pipe or a device may keep a reader for ever.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/unique_handle.hpp"

namespace spillway {

void close_descriptor(int fd) noexcept;
using FileDescriptor = UniqueHandle<int, close_descriptor, -1>;

// Throws Error(bad_input) that names the file when it cannot be opened or is a directory, a pipe, a
// device or a socket.
FileDescriptor open_for_reading(std::filesystem::path const& path);

// Throws as above unless an open file, which messages call `path`, is a regular one.
void require_regular(FileDescriptor const& file, std::filesystem::path const& path);

// The whole of a file. What the caller's shell has opened (/dev/stdin, /dev/fd/63) may be a pipe.
// Throws Error that names the file: bad_input, also when it is larger than `most_bytes`; cannot_fit
// when there is no memory for it.
std::string read_input(std::filesystem::path const& path, std::int64_t most_bytes);
// The same of an open file, from where it stands.
std::string read_input(FileDescriptor const& file, std::filesystem::path const& path,
                       std::int64_t most_bytes);

}  // namespace spillway
