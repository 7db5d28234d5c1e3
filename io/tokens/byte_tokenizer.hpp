// The byte tokenizer makes token i of a byte with the value i. An optional separator, token 256,
// ends each text that is not empty.
#pragma once

#include <cstdint>
#include <memory>

#include "tokenizer/open_tokenizer.hpp"

namespace spillway {

inline constexpr std::int32_t byte_separator = 256;

// Makes one whose vocabulary has the separator, or has not.
std::unique_ptr<Tokenizer const> byte_tokenizer(bool has_separator);

}  // namespace spillway
