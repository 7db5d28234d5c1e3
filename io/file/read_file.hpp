// Reads ranges of files, and whole files whose size is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "io/file/file.hpp"

namespace spillway {

// Reads bytes [offset_bytes, offset_bytes + to.size()) of a file. Throws Error that names `path`:
// storage if they cannot be read, damaged if the file is shorter.
void read_range(FileDescriptor const& file, std::filesystem::path const& path,
                std::int64_t offset_bytes, std::span<std::byte> to);

// Returns a whole file of at most `most_bytes`. Throws Error that names `path`: bad_input if it
// cannot be opened, damaged if it is larger, storage if it cannot be read, cannot_fit if there is
// no memory for it.
std::string read_text(std::filesystem::path const& path, std::int64_t most_bytes);

// Returns the whole of an open file of at most `most_bytes`. Throws Error that names `path`:
// damaged if the file is larger, storage if it cannot be read, cannot_fit if there is no memory for
// it.
std::string read_text(FileDescriptor const& file, std::filesystem::path const& path,
                      std::int64_t most_bytes);

// Returns the text of a file that ends with a seal (seal.hpp), without the seal. Throws what
// read_text throws, and Error(damaged) if the seal is missing or does not fit the text.
std::string read_sealed_text(std::filesystem::path const& path, std::int64_t most_bytes);

}  // namespace spillway
