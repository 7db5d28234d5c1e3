// The HDF5 token file: /tokens (uint8, uint16 or uint32; contiguous), /document_starts (int64,
// sorted, the first is 0) and root attributes format, version, tokenizer, vocab.
#pragma once

#include <cstdint>

namespace spillway {

inline constexpr char const* token_format = "spillway-tokens";
inline constexpr std::int64_t token_format_version = 1;
inline constexpr char const* tokens_dataset = "/tokens";
inline constexpr char const* document_starts_dataset = "/document_starts";

}  // namespace spillway
