// Reading that is complete or an error, and whole files whose size has a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "io/file/file.hpp"

namespace spillway {

// Bytes [offset_bytes, offset_bytes + to.size()) of a file. Throws Error naming `path`: storage
// when they cannot be read, damaged when the file is shorter.
void read_range(FileDescriptor const& file, std::filesystem::path const& path,
                std::int64_t offset_bytes, std::span<std::byte> to);

// A whole file of at most `most_bytes`. Throws Error naming it: bad_input when it cannot be opened,
// damaged when it is larger, storage when it cannot be read, cannot_fit when there is no memory for
// it.
std::string read_text(std::filesystem::path const& path, std::int64_t most_bytes);

// The same of an open file.
std::string read_text(FileDescriptor const& file, std::filesystem::path const& path,
                      std::int64_t most_bytes);

// The same without its seal (seal.hpp), which must fit: else Error(damaged).
std::string read_sealed_text(std::filesystem::path const& path, std::int64_t most_bytes);

}  // namespace spillway
