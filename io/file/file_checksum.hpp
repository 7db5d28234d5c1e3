// Adds ranges of a file to a checksum.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/checksum.hpp"
#include "io/file/file.hpp"

namespace spillway {

// Adds bytes [offset_bytes, offset_bytes + bytes) of a file to `sum`. Throws Error that names
// `path`: storage if they cannot be read, damaged if the file is shorter.
void add_range(StreamingChecksum& sum, FileDescriptor const& file,
               std::filesystem::path const& path, std::int64_t offset_bytes, std::int64_t bytes);

}  // namespace spillway
