// What packed files hold; only for this folder's sources.
#pragma once

#include <filesystem>
#include <memory>

#include "io/texts/byte_source.hpp"

namespace spillway {

// Both throw Error(bad_input) if this build lacks the library.
std::unique_ptr<ByteSource> unpack_gzip(std::unique_ptr<ByteSource> packed,
                                        std::filesystem::path const& path);
std::unique_ptr<ByteSource> unpack_zstd(std::unique_ptr<ByteSource> packed,
                                        std::filesystem::path const& path);

// Throws Error(damaged).
[[noreturn]] void cannot_unpack(std::filesystem::path const& path, char const* why);

}  // namespace spillway
