// This is the format of HDF5 token files. Such a file has the contiguous datasets /tokens (uint8,
// uint16 or uint32), /piece_checksums (the XXH3-64 of every 16 KiB of tokens, as int64) and
// /document_starts (int64, ascending, the first is 0), and the root attributes format, version,
// tokenizer and vocab. It begins with the head, in HDF5's "user block": a sealed JSON text
// (io/file/seal.hpp) that repeats the attributes and also has the places of the datasets and a
// checksum of /document_starts. A file in which not all tokens are learned has the dataset
// /loss_mask (uint8: 1 where a token is learned, 0 where it is only seen) with
// /loss_mask_checksums, which is as /piece_checksums, and is of version 3. A tokenizer that was
// read from a file has that file's checksum in tokenizer_xxh3, beside its name. So a file is read
// without HDF5, and nothing is believed unchecked. Version 1 had neither head nor checksums.
#pragma once

#include <cstdint>
#include <limits>

namespace spillway {

inline constexpr char const* token_format = "spillway-tokens";
inline constexpr std::int64_t token_format_version = 2, masked_token_format_version = 3;
inline constexpr char const* tokens_dataset = "/tokens";
inline constexpr char const* piece_checksums_dataset = "/piece_checksums";
inline constexpr char const* loss_mask_dataset = "/loss_mask";
inline constexpr char const* loss_mask_checksums_dataset = "/loss_mask_checksums";
inline constexpr char const* document_starts_dataset = "/document_starts";

inline constexpr std::int64_t kMostVocab = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kTokenHeadBytes = 4096;    // the size of the user block
inline constexpr std::int64_t kTokenPieceBytes = 16384;  // bytes of tokens that share one checksum

}  // namespace spillway
