// Makes tokens of a job; only for this folder's sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/tokens/text_jobs.hpp"
#include "records/documents.hpp"
#include "tokenizer/tokenizer.hpp"

namespace spillway {

struct DocumentEnd {
  std::size_t ids;        // how many ids there are where the document ends
  bool is_ended = false;  // says whether the token that ends texts is the last of them
};

struct JobTokens {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> learned;  // of each id 1, or 0 if it is only seen; empty: all are
  std::vector<DocumentEnd> ends;
};

// `encoder` is that of the thread. Throws what documents_of throws, and Error(bad_input) if a
// document ends with a token that is not known.
JobTokens tokens_of(TextJob const& job, RecordRules const& rules, TokenizerFacts const& facts,
                    Encoder& encoder);

}  // namespace spillway
