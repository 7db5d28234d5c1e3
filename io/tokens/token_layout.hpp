// Tells what kind of token file a file is, and where its tokens lie.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace spillway {

// A TokenLayout is what can be known of a token file without reading its tokens.
struct TokenLayout {
  std::string kind;  // "HDF5" or "llm.c"
  std::string tokenizer;
  std::int64_t vocab = 0;  // every token is in [0, vocab)
  std::int64_t count = 0;
  std::int64_t documents = 0;     // 0 if the file does not record documents
  std::int64_t offset_bytes = 0;  // where the first token lies
  int token_bytes = 0;            // 1, 2 or 4; tokens are little-endian
  // The datasets /document_starts and /piece_checksums (token_format.hpp) begin at these offsets; 0
  // if a file has no such dataset.
  std::int64_t documents_offset_bytes = 0, checksums_offset_bytes = 0;
  // The datasets /loss_mask and /loss_mask_checksums, likewise, and how many tokens are learned; 0
  // if that is not known.
  std::int64_t mask_offset_bytes = 0, mask_checksums_offset_bytes = 0, learned = 0;
  std::string documents_checksum = {};  // checksum of /document_starts; empty if not known
  std::string tokenizer_checksum = {};  // of the tokenizer's file; empty if not known
};

// Throws Error: bad_input if the file is missing, empty or no token file, damaged if it is cut
// short or its head is not as it was written, storage if it cannot be read. Whether the table of
// documents is sound is not checked.
TokenLayout read_token_layout(std::filesystem::path const& path);

}  // namespace spillway
