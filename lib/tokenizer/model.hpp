// A SubwordModel finds the tokens that a word consists of: the `model` of a tokenizer.json; only
// for this folder's sources.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tokenizer/json_node.hpp"
#include "tokenizer/vocabulary.hpp"

namespace spillway {

class SubwordModel {
 public:
  explicit SubwordModel(Vocabulary vocabulary) : m_vocabulary(std::move(vocabulary)) {}
  virtual ~SubwordModel() = default;

  Vocabulary const& vocabulary() const { return m_vocabulary; }
  // Appends the ids of a word, which is valid UTF-8 and not empty. Any thread may call it.
  virtual void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const = 0;

 private:
  Vocabulary m_vocabulary;
};

// Reads the `model` of a tokenizer.json. Throws Error(bad_input) that names a key which is wrong,
// or a model or setting that is not known.
std::unique_ptr<SubwordModel> read_model(JsonNode const& node);

// These make a model of each type, for read_model.
std::unique_ptr<SubwordModel> read_bpe(JsonNode const& node);
std::unique_ptr<SubwordModel> read_word_piece(JsonNode const& node);
std::unique_ptr<SubwordModel> read_unigram(JsonNode const& node);

// Returns the vocabulary that is written as {"token": id, ..} under the key `vocab`.
Vocabulary read_vocabulary(JsonNode const& node);

// Returns the token that stands for one byte in models with `byte_fallback`, such as "<0x0A>".
std::string byte_token(unsigned char byte);

}  // namespace spillway
