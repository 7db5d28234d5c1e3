// A Pipeline is what a tokenizer.json describes: added tokens are taken out of a text, the rest is
// normalized and split into words, and the model makes tokens of these; only for this folder's
// sources.
#pragma once

#include <memory>
#include <vector>

#include "tokenizer/added_tokens.hpp"
#include "tokenizer/decoders.hpp"
#include "tokenizer/json_node.hpp"
#include "tokenizer/model.hpp"
#include "tokenizer/normalizers.hpp"
#include "tokenizer/post_processor.hpp"
#include "tokenizer/pre_tokenizers.hpp"
#include "tokenizer/tokenizer.hpp"

namespace spillway {

struct Stages {
  std::vector<Normalizer> normalizers;
  std::vector<PreTokenizer> pre_tokenizers;
  std::unique_ptr<SubwordModel> model;
  std::vector<Decoder> decoders;
  AroundText around;
  AddedTokens added;  // after the model and the normalizers, by which it is made
};

// Reads the stages of a tokenizer.json. Throws Error(bad_input) that names a key which is wrong, or
// a type that is not known.
Stages read_stages(JsonNode const& root);

class Pipeline final : public Tokenizer {
 public:
  Pipeline(Stages stages, TokenizerFacts facts);

  std::unique_ptr<Encoder> encoder() const override;
  std::string decode(std::span<std::int32_t const> ids, bool with_special) const override;
  std::vector<std::string> special_tokens() const override;
  std::size_t last_cut(std::string_view text) const override;

 private:
  Stages m_stages;
  bool m_has_cuts;
};

}  // namespace spillway
