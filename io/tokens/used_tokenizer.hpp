// Tells by which tokenizer tokens were made, so that tokens of different vocabularies are never
// taken for each other.
#pragma once

#include <string>

#include "io/tokens/token_layout.hpp"

namespace spillway {

struct UsedTokenizer {
  std::string name;
  std::string checksum;  // of the tokenizer's file; empty if not known
};

inline UsedTokenizer tokenizer_of(TokenLayout const& layout) {
  return {layout.tokenizer, layout.tokenizer_checksum};
}

// Returns whether the tokenizers are known to differ. Those without a checksum are not known,
// except the one of bytes.
bool are_different(UsedTokenizer const& one, UsedTokenizer const& other);

// Throws Error(bad_input) if the tokenizers are known to differ. `one_place` and `other_place` name
// what has tokens of them, such as files.
void require_same_tokenizer(std::string const& one_place, UsedTokenizer const& one,
                            std::string const& other_place, UsedTokenizer const& other);

}  // namespace spillway
