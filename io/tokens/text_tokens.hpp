// Makes token files of text with the tokenizer of a published model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "io/file/output.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "tokenizer/tokenizer.hpp"

namespace spillway {

struct TextTokensWork {
  bool separator = false;  // says whether the token that ends texts is put behind each
  std::size_t threads = 1;
  std::size_t piece_bytes = std::size_t{1} << 18;  // of text that a thread takes at a time
};

// Writes the tokens of `files`, in this order, as the token file `out`: the same ones, however many
// threads there are. Throws Error(bad_input) if an input cannot be read, if there is no token at
// all, if `separator` is wanted and no file says which token ends texts, or if `out` cannot be
// created; Error(storage) if writing fails later. `told`, which may be empty, is called after some
// bytes of text, with their number.
TokenizeResult tokenize_texts(std::span<std::filesystem::path const> files,
                              Tokenizer const& tokenizer, Output const& out,
                              TextTokensWork const& work,
                              std::function<void(std::int64_t bytes)> const& told = {});

}  // namespace spillway
