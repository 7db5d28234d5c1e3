// What is not known in a tokenizer.json is refused with file and key.
#include "base/error.hpp"
#include "tests/unit/tokenizer/tokenizer_case.hpp"

namespace spillway::tokenizer_refusals_test {
namespace {

using test::Json;

class TokenizerRefusals : public test::TokenizerTest {
 protected:
  // Returns why the file is refused, without its path.
  std::string refusal(Json const& json) const {
    auto const error = error_of([&] { opened(json); });
    EXPECT_EQ(error.status(), Status::bad_input);
    std::string what = error.what();
    auto const path = (m_dir / kTokenizerFile).string() + ": ";
    EXPECT_EQ(what.find(path), 0U) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos);
    return what.substr(std::min(what.size(), path.size()));
  }
  std::string refusal_with(char const* pointer, Json const& value) const {
    auto json = test::byte_level_json();
    json[Json::json_pointer(pointer)] = value;
    return refusal(json);
  }
};

TEST_F(TokenizerRefusals, types_that_are_not_known_are_named) {
  EXPECT_EQ(refusal_with("/decoder/type", "CTC"),
            "decoder: type 'CTC' is not known here; these are: ByteLevel, Metaspace, WordPiece, "
            "ByteFallback, Fuse, Strip, Replace, Sequence");
  EXPECT_EQ(refusal_with("/model/type", "WordLevel").substr(0, 32),
            "model: type 'WordLevel' is not k");
  EXPECT_EQ(refusal_with("/pre_tokenizer",
                         Json::parse(R"({"type": "Sequence", "pretokenizers": [{"type": "X"}]})"))
                .substr(0, 45),
            "pre_tokenizer: pretokenizers[0]: type 'X' is ");
  EXPECT_EQ(refusal_with("/normalizer", {{"kind", "NFC"}}), "normalizer: has no `type`");
}

TEST_F(TokenizerRefusals, keys_that_are_wrong_are_named) {
  EXPECT_EQ(refusal_with("/model/dropout", 0.1),
            "model: dropout: tokens that are drawn are not known here; give null");
  EXPECT_EQ(refusal_with("/model/end_of_word_suffix", "</w>"),
            "model: end_of_word_suffix: is not known here");
  EXPECT_EQ(refusal_with("/model/merges/1", "a b c"), "model: merges[1]: is no pair");
  EXPECT_EQ(refusal_with("/model/merges/1", "a x"),
            "model: merges[1]: 'x' is not in the vocabulary");
  EXPECT_EQ(refusal_with("/model/vocab/a", -1), "model: vocab: a: is no id of a token");
  EXPECT_EQ(refusal_with("/model/unk_token", "?"), "model: unk_token: is not in the vocabulary");
  EXPECT_EQ(refusal_with("/added_tokens/0/id", 1.5), "added_tokens[0]: id: is no id of a token");
  EXPECT_EQ(refusal_with("/added_tokens", 1), "added_tokens: is no list");
  EXPECT_EQ(refusal_with("/pre_tokenizer/use_regex", "yes"),
            "pre_tokenizer: use_regex: is neither true nor false");
}

TEST_F(TokenizerRefusals, what_is_nested_without_end_is_refused) {
  Json nested = {{"type", "NFC"}};
  for (int i = 0; i < 500; ++i)
    nested = {{"type", "Sequence"}, {"normalizers", Json::array({nested})}};
  auto const why = refusal_with("/normalizer", nested);
  EXPECT_TRUE(why.ends_with("is nested too deeply")) << why;
}

TEST_F(TokenizerRefusals, expressions_that_make_no_sense_are_named) {
  auto const split = [&](char const* expression) {
    return refusal_with("/pre_tokenizer",
                        {{"type", "Split"}, {"pattern", {{"Regex", expression}}}});
  };
  EXPECT_EQ(split("(a"), "pre_tokenizer: pattern: missing closing parenthesis");
  EXPECT_EQ(split(R"([\S])"), R"(pre_tokenizer: pattern: \S inside [..] is not known here)");
}

TEST_F(TokenizerRefusals, a_charsmap_that_is_cut_short_is_named) {
  for (auto const* const map : {"AA==", "/P//fw==", "?"})
    EXPECT_EQ(refusal_with("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", map}})
                  .substr(0, 36),
              "normalizer: precompiled_charsmap: is");
}

TEST_F(TokenizerRefusals, files_that_are_no_tokenizers_are_named) {
  EXPECT_EQ(refusal(Json::array()), "is no JSON object, as tokenizers have");
  EXPECT_EQ(refusal(Json::object()), "has no `model`");
  std::filesystem::remove(m_dir / kTokenizerFile);
  EXPECT_EQ(std::string(error_of([&] { open_tokenizer(m_dir); }).what()),
            m_dir.string() +
                ": has neither tokenizer.json nor a model of SentencePiece "
                "(tokenizer.model, spiece.model, ..)");
  std::ofstream(m_dir / "tokenizer.model") << "nonsense";
  auto const error = error_of([&] { open_tokenizer(m_dir); });
  EXPECT_EQ(error.status(), Status::bad_input);
  EXPECT_NE(std::string(error.what()).find("tokenizer.model: "), std::string::npos);
}

}  // namespace
}  // namespace spillway::tokenizer_refusals_test
