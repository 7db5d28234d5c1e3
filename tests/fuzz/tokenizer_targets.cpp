#include "tokenizer_targets.hpp"

#include <stdexcept>
#include <string_view>

#include "file_targets.hpp"
#include "tokenizer/open_tokenizer.hpp"

namespace spillway::test {
namespace {

namespace fs = std::filesystem;

constexpr char const* kByteLevel = R"({
  "added_tokens": [{"id": 9, "content": "<end>", "special": true, "lstrip": true,
                    "normalized": false}, {"id": 10, "content": "A B", "single_word": true}],
  "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Replace",
    "pattern": {"Regex": " {2,}"}, "content": "x"}, {"type": "Strip"}]},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex":
    "[^\\r\\n\\p{L}]?\\p{L}+|\\s+(?!\\S)|\\s"}, "behavior": "MergedWithNext"},
    {"type": "Digits"}, {"type": "ByteLevel", "use_regex": false}]},
  "post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}},
    {"SpecialToken": {"id": "e"}}], "special_tokens": {"e": {"ids": [9]}}},
  "decoder": {"type": "ByteLevel"},
  "model": {"type": "BPE", "ignore_merges": true, "vocab": {"a": 0, "b": 1, "Ġ": 2, "ab": 3,
    "Ġab": 4, "Ã": 5}, "merges": ["a b", ["Ġ", "ab"]], "unk_token": "a"}})";

constexpr char const* kUnigram = R"({
  "normalizer": {"type": "Precompiled", "precompiled_charsmap": "DAAAAAAEAAAAAAAAAAAAAGEA"},
  "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"},
  "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"},
    "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ",
    "start": 1, "stop": 0}]},
  "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": [["<unk>", 0],
    ["▁", -2.5], ["a", -3], ["▁ab", -6.25], ["<0x62>", -9]]}})";

constexpr char const* kWordPiece = R"({
  "normalizer": {"type": "BertNormalizer", "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 0]},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "model": {"type": "WordPiece", "unk_token": "u",
    "vocab": {"u": 0, "a": 1, "##b": 2, "##é": 3}}})";

constexpr std::string_view kText = "ab  a<end> \xC3\xA9\xFF A B12 \xF0\x9F\x98\x80\n\n'll ab.";

// A tokenizer that is believed has only ids of its vocabulary, and texts for them.
void use(Tokenizer const& tokenizer) {
  std::vector<std::int32_t> ids;
  tokenizer.encoder()->encode(kText, ids);
  for (auto const id : ids)
    if (id < 0 || id >= tokenizer.facts().vocab)
      throw std::logic_error("an id outside the vocabulary is made");
  tokenizer.decode(ids, true);
  if (tokenizer.last_cut(kText) >= kText.size()) throw std::logic_error("a cut behind the text");
}

}  // namespace

std::vector<FuzzTarget> tokenizer_targets(fs::path const& scratch) {
  auto const path = scratch / kTokenizerFile;
  return {{"tokenizer", {kByteLevel, kUnigram, kWordPiece}, [=](std::string const& bytes) {
             write_file(path, bytes);
             use(*open_tokenizer(path));
           }}};
}

}  // namespace spillway::test
