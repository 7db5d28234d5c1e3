// The byte tokenizer: token i is byte i; an optional separator, 256, ends each file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "io/file/output.hpp"

namespace spillway {

inline constexpr char const* kByteTokenizer = "byte";  // as token files name it
inline constexpr std::int32_t byte_separator = 256;

struct TokenizeResult {
  std::int64_t tokens, documents;  // each file that is not empty is a document
  std::int64_t empty_files;
};

// Writes the bytes of `files`, in this order, as the token file `out`. Throws Error(bad_input) for
// a missing input, one that has bytes though its size is 0, when there is no byte at all, or when
// `out` cannot be created; Error(storage) when it fails later.
TokenizeResult tokenize_bytes(std::span<std::filesystem::path const> files, Output const& out,
                              bool separator);

}  // namespace spillway
