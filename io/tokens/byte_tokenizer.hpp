// The byte tokenizer makes token i of a byte with the value i. An optional separator, token 256,
// ends each file that is not empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "io/file/output.hpp"
#include "tokenizer/open_tokenizer.hpp"

namespace spillway {

inline constexpr std::int32_t byte_separator = 256;

struct TokenizeResult {
  std::int64_t tokens, documents;  // each file that is not empty is a document
  std::int64_t empty_files;
};

// Writes the bytes of `files`, in this order, as the token file `out`. Throws Error(bad_input) if
// an input cannot be read or has bytes though its size is 0, if there is no byte at all, or if
// `out` cannot be created; Error(storage) if writing fails later. `told`, which may be empty, is
// called after some bytes, with their number.
TokenizeResult tokenize_bytes(std::span<std::filesystem::path const> files, Output const& out,
                              bool separator,
                              std::function<void(std::int64_t bytes)> const& told = {});

}  // namespace spillway
