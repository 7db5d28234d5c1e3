// Byte-pair encoding joins pairs by their ranks.
#include "tests/unit/tokenizer/tokenizer_case.hpp"

namespace spillway::byte_pairs_test {
namespace {

using test::Ids;

class BytePairs : public test::TokenizerTest {};

TEST_F(BytePairs, pairs_are_joined_by_rank_and_from_the_left) {
  auto const tokenizer = opened(test::byte_level_json());
  EXPECT_EQ(ids_of(*tokenizer, "abc"), (Ids{6}));
  EXPECT_EQ(ids_of(*tokenizer, "aab"), (Ids{0, 5}));
  EXPECT_EQ(ids_of(*tokenizer, "cab abc"), (Ids{2, 5, 3, 6}));  // "a b" comes before "Ġ a"
  EXPECT_EQ(ids_of(*tokenizer, " a"), (Ids{7}));
  EXPECT_EQ(ids_of(*tokenizer, "h\xC3\xA9"), (Ids{4, 9}));  // without the h, which is no token
  EXPECT_EQ(ids_of(*tokenizer, ""), Ids{});
}

TEST_F(BytePairs, a_pair_that_has_changed_meanwhile_is_another_pair) {
  auto json = test::byte_level_json();
  auto& model = json["model"];
  model["vocab"].update({{"bc", 10}, {"aa", 11}});
  model["merges"] = {"b c", "a b", "a bc", "a a"};
  auto const tokenizer = opened(json);
  EXPECT_EQ(ids_of(*tokenizer, "abc"), (Ids{6}));
  EXPECT_EQ(ids_of(*tokenizer, "aaa"), (Ids{11, 0}));  // of equal pairs the left one
}

TEST_F(BytePairs, a_word_is_looked_up_whole_where_merges_may_be_ignored) {
  auto json = test::byte_level_json();
  json["model"]["vocab"]["cab"] = 10;  // no merge makes it
  EXPECT_EQ(ids_of(*opened(json), "cab"), (Ids{2, 5}));
  json["model"]["ignore_merges"] = true;
  EXPECT_EQ(ids_of(*opened(json), "cab"), (Ids{10}));
}

TEST_F(BytePairs, an_unknown_character_is_its_bytes_or_the_unknown_token) {
  auto json = test::byte_level_json();
  json.erase("pre_tokenizer");
  json["decoder"] = {{"type", "Fuse"}};
  auto& model = json["model"];
  model["unk_token"] = "c";
  EXPECT_EQ(ids_of(*opened(json), "xxaxb"), (Ids{2, 2, 0, 2, 1}));
  model["fuse_unk"] = true;
  EXPECT_EQ(ids_of(*opened(json), "xxaxb"), (Ids{2, 0, 2, 1}));
  model["byte_fallback"] = true;
  model["vocab"]["<0x78>"] = 11;
  EXPECT_EQ(ids_of(*opened(json), "xya"), (Ids{11, 2, 0}));
}

TEST_F(BytePairs, a_word_of_a_million_letters_takes_no_longer_than_many_words) {
  auto const tokenizer = opened(test::byte_level_json());
  std::string text;
  while (text.size() < 3'000'000) text += "abc";
  EXPECT_EQ(ids_of(*tokenizer, text), Ids(text.size() / 3, 6));
}

TEST_F(BytePairs, ids_become_the_text_again) {
  auto const tokenizer = opened(test::byte_level_json());
  for (auto const* const text : {"abc", "ab abc", "\xC3\xA9", "", "a<end>b"})
    EXPECT_EQ(tokenizer->decode(ids_of(*tokenizer, text), true), text);
  EXPECT_EQ(tokenizer->decode(Ids{0, 8, 1, 99}, false), "ab");
  EXPECT_EQ(tokenizer->decode(Ids{4}, true), "\xEF\xBF\xBD");  // half of a character
}

}  // namespace
}  // namespace spillway::byte_pairs_test
