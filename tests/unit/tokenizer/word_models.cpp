// WordPiece and Unigram find the tokens of a word, and what is done before and after them.
#include "tests/unit/tokenizer/tokenizer_case.hpp"

namespace spillway::word_models_test {
namespace {

using test::Ids;
using test::Json;

class WordModels : public test::TokenizerTest {};

Json bert_json() {
  return Json::parse(R"({
    "normalizer": {"type": "BertNormalizer"},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 2]},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
      "max_input_chars_per_word": 10,
      "vocab": {"[UNK]": 0, "[SEP]": 1, "[CLS]": 2, "un": 3, "##able": 4, "##a": 5, "e": 6, ".": 7,
                "日": 8}}
  })");
}

TEST_F(WordModels, a_word_is_made_of_the_longest_tokens_or_is_unknown) {
  auto const tokenizer = opened(bert_json());
  EXPECT_EQ(ids_of(*tokenizer, "Unable."), (Ids{3, 4, 7}));
  EXPECT_EQ(ids_of(*tokenizer, "una unx"), (Ids{3, 5, 0}));
  EXPECT_EQ(ids_of(*tokenizer, "unaaaaaaaa unaaaaaaaaa"), (Ids{3, 5, 5, 5, 5, 5, 5, 5, 5, 0}));
  EXPECT_EQ(ids_of(*tokenizer, "日日\xC3\x89\x01"), (Ids{8, 8, 6}));  // É without its accent
  EXPECT_EQ(tokenizer->decode(Ids{3, 4, 7}, true), "unable.");
  EXPECT_EQ(tokenizer->facts().before, (Ids{2}));
}

Json unigram_json() {
  return Json::parse(R"({
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁", -2], ["a", -3],
      ["b", -3], ["ab", -5], ["▁ab", -6.5], ["ba", -4.5]]}
  })");
}

TEST_F(WordModels, the_way_with_the_highest_score_is_taken) {
  auto const tokenizer = opened(unigram_json());
  EXPECT_EQ(ids_of(*tokenizer, "ab"), (Ids{5}));         // -6.5 against -7 and -8
  EXPECT_EQ(ids_of(*tokenizer, "aba"), (Ids{1, 2, 6}));  // -9.5, as ▁ab and a; the first found
  EXPECT_EQ(ids_of(*tokenizer, "xyb"), (Ids{1, 0, 3}));  // what is unknown becomes one token
  EXPECT_EQ(tokenizer->decode(ids_of(*tokenizer, "ab ba"), true), "ab ba");
}

TEST_F(WordModels, bytes_stand_for_what_is_unknown) {
  auto json = unigram_json();
  json["model"]["byte_fallback"] = true;
  json["model"]["vocab"].push_back({"<0x78>", -20});
  json["decoder"] = Json::parse(R"({"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
    {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})");
  auto const tokenizer = opened(json);
  EXPECT_EQ(ids_of(*tokenizer, "xb"), (Ids{1, 7, 3}));
  EXPECT_EQ(tokenizer->decode(Ids{1, 7, 3}, true), "xb");
}

TEST_F(WordModels, normal_forms_and_splits_come_before_the_model) {
  auto json = unigram_json();
  json["normalizer"] = Json::parse(R"({"type": "Sequence", "normalizers": [
    {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"},
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}, {"type": "Strip"}]})");
  auto const tokenizer = opened(json);
  EXPECT_EQ(ids_of(*tokenizer,
                   "  \xC3\x80"
                   "B   \xEF\xBD\x81\x62 "),
            (Ids{5, 5}));
}

}  // namespace
}  // namespace spillway::word_models_test
