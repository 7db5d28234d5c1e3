// The byte tokenizer makes token i of a byte with the value i. An optional separator, token 256,
// ends each text that is not empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "io/file/output.hpp"
#include "io/tokens/text_tokens.hpp"
#include "tokenizer/open_tokenizer.hpp"

namespace spillway {

inline constexpr std::int32_t byte_separator = 256;

// Makes one whose vocabulary has the separator, or has not.
std::unique_ptr<Tokenizer const> byte_tokenizer(bool has_separator);

// Writes the bytes of `files`, in this order, as the token file `out`. Throws what tokenize_texts
// throws, and calls `told` as that does.
TokenizeResult tokenize_bytes(std::span<std::filesystem::path const> files, Output const& out,
                              bool separator,
                              std::function<void(std::int64_t bytes)> const& told = {});

}  // namespace spillway
