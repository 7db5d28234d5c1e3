// A text may be cut only where its parts have, together, the ids of the whole.
#include "tests/unit/tokenizer/tokenizer_case.hpp"

namespace spillway::text_cuts_test {
namespace {

using test::Ids;
using test::Json;

class TextCuts : public test::TokenizerTest {
 protected:
  std::size_t last_cut(Json const& json, std::string_view text) const {
    return opened(json)->last_cut(text);
  }
};

TEST_F(TextCuts, a_cut_is_before_a_blank_between_letters) {
  auto const json = test::byte_level_json();
  EXPECT_EQ(last_cut(json, "ab abc ab"), 6U);
  EXPECT_EQ(last_cut(json, "ab  ab"), 0U);
  EXPECT_EQ(last_cut(json, "ab\n ab"), 0U);
  EXPECT_EQ(last_cut(json, "a "), 0U);
  EXPECT_EQ(last_cut(json, ""), 0U);
}

TEST_F(TextCuts, parts_have_the_ids_of_the_whole) {
  auto const tokenizer = opened(test::byte_level_json());
  std::string_view const text = "ab abc  ab a ab\n\nabc ab";
  auto const cut = tokenizer->last_cut(text);
  ASSERT_GT(cut, 0U);
  auto ids = ids_of(*tokenizer, text.substr(0, cut));
  for (auto const id : ids_of(*tokenizer, text.substr(cut))) ids.push_back(id);
  EXPECT_EQ(ids, ids_of(*tokenizer, text));
}

TEST_F(TextCuts, none_is_known_where_something_reaches_over_blanks) {
  constexpr std::string_view text = "ab abc ab";
  auto json = test::byte_level_json();
  json["normalizer"] = {{"type", "Strip"}};
  EXPECT_EQ(last_cut(json, text), 0U);
  json["normalizer"] = {{"type", "NFC"}};
  EXPECT_GT(last_cut(json, text), 0U);
  json["added_tokens"].push_back({{"id", 20}, {"content", "c a"}});
  EXPECT_EQ(last_cut(json, text), 0U);
  json["added_tokens"][1] = {{"id", 20}, {"content", "abc"}, {"lstrip", true}};
  EXPECT_EQ(last_cut(json, text), 0U);
  json["added_tokens"].erase(1);
  json["pre_tokenizer"] = Json::parse(
      R"({"type": "Split", "pattern": {"Regex": "\\w+ \\w+"}, "behavior": "Isolated"})");
  EXPECT_EQ(last_cut(json, text), 0U);  // an expression that nobody has looked at
  json["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers", {json["pre_tokenizer"], {{"type", "ByteLevel"}}}}};
  EXPECT_EQ(last_cut(json, text), 0U);  // also where another one would part these words
  json["pre_tokenizer"] = nullptr;
  EXPECT_EQ(last_cut(json, text), 0U);  // the model sees all of the text
}

}  // namespace
}  // namespace spillway::text_cuts_test
