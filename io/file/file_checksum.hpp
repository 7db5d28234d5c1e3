// Checksums of what lies in a file.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/checksum.hpp"
#include "io/file/file.hpp"

namespace spillway {

// Adds bytes [offset_bytes, offset_bytes + bytes) of a file. Throws Error(storage) naming `path`
// when they cannot be read, Error(damaged) when it has fewer.
void add_range(StreamingChecksum& sum, FileDescriptor const& file,
               std::filesystem::path const& path, std::int64_t offset_bytes, std::int64_t bytes);

}  // namespace spillway
