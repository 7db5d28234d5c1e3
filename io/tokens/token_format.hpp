// The HDF5 token file: /tokens (uint8, uint16 or uint32), /piece_checksums (the XXH3-64 of every 16
// KiB of tokens, as int64), /document_starts (int64, ascending, the first is 0), all contiguous,
// and root attributes format, version, tokenizer, vocab. Before HDF5's own bytes, in its "user
// block", lies the head: the same in sealed JSON, with the places of the datasets and a checksum
// of the documents, so that no HDF5 is needed to read a file and nothing that is read is believed
// unchecked. Version 1 had neither head nor checksums.
#pragma once

#include <cstdint>
#include <limits>

namespace spillway {

inline constexpr char const* token_format = "spillway-tokens";
inline constexpr std::int64_t token_format_version = 2;
inline constexpr char const* tokens_dataset = "/tokens";
inline constexpr char const* piece_checksums_dataset = "/piece_checksums";
inline constexpr char const* document_starts_dataset = "/document_starts";

inline constexpr std::int64_t kMostVocab = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kTokenHeadBytes = 4096;    // of the user block
inline constexpr std::int64_t kTokenPieceBytes = 16384;  // of one checksum

}  // namespace spillway
