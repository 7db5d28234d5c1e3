// Pre-tokenizers split a text into words, of which the model makes tokens: the `pre_tokenizer` of a
// tokenizer.json; only for this folder's sources.
#pragma once

#include <functional>
#include <vector>

#include "tokenizer/json_node.hpp"
#include "tokenizer/words.hpp"

namespace spillway {

// What a pre-tokenizer does where a blank stands between two letters of ASCII.
enum class AtBlanks : std::uint8_t {
  splits,   // it always splits before the blank, whatever stands around
  ignores,  // it does nothing that reaches over it
  unknown
};

// Any thread may call `apply`.
struct PreTokenizer {
  std::function<void(Words&)> apply;
  AtBlanks at_blanks = AtBlanks::unknown;
};

// Reads the `pre_tokenizer` of a tokenizer.json as the functions that it consists of, in their
// order. Throws Error(bad_input) that names a key which is wrong, or a type that is not known.
std::vector<PreTokenizer> read_pre_tokenizers(JsonNode const& node);

}  // namespace spillway
