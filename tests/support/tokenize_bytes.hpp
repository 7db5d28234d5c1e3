// Makes token files of bytes for tests.
#pragma once

#include <filesystem>
#include <span>

#include "io/tokens/byte_tokenizer.hpp"
#include "io/tokens/text_tokens.hpp"

namespace spillway::test {

// Writes the bytes of `files`, in this order, as the token file `out`. Throws what tokenize_texts
// throws.
inline TokenizeResult tokenize_bytes(std::span<std::filesystem::path const> files,
                                     Output const& out, bool separator) {
  return tokenize_texts(files, *byte_tokenizer(separator), out, {.separator = separator});
}

}  // namespace spillway::test
