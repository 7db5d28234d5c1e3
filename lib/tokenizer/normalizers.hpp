// Normalizers change a text before it is split into words: the `normalizer` of a tokenizer.json;
// only for this folder's sources.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tokenizer/json_node.hpp"

namespace spillway {

// A Normalizer changes valid UTF-8 into other valid UTF-8. Any thread may call it.
struct Normalizer {
  std::function<std::string(std::string text)> apply;
  // Says whether it changes a letter of ASCII without looking beyond a blank beside it, and never
  // adds or removes that blank, so that a text may be cut there.
  bool is_local = true;
};

// Reads the `normalizer` of a tokenizer.json as the functions that it consists of, in their order.
// Throws Error(bad_input) that names a key which is wrong, or a type that is not known.
std::vector<Normalizer> read_normalizers(JsonNode const& node);

// Reads a BertNormalizer, for read_normalizers.
Normalizer read_bert_normalizer(JsonNode const& node);

// Returns the text after all of them.
std::string normalized(std::vector<Normalizer> const& normalizers, std::string text);

}  // namespace spillway
