// Ids that come one by one become the text that they are together.
#include "tests/unit/tokenizer/tokenizer_case.hpp"
#include "tokenizer/text_stream.hpp"

namespace spillway::text_streams_test {
namespace {

using test::Ids;

class TextStreams : public test::TokenizerTest {};

TEST_F(TextStreams, a_character_is_shown_when_it_is_complete) {
  auto const tokenizer = opened(test::byte_level_json());
  TextStream stream(*tokenizer, false);
  EXPECT_EQ(stream.add(6), "abc");
  EXPECT_EQ(stream.add(4), "");
  EXPECT_EQ(stream.add(9), "\xC3\xA9");
  EXPECT_EQ(stream.add(8), "");  // a special token
  EXPECT_EQ(stream.add(4), "");
  EXPECT_EQ(stream.end(), "\xEF\xBF\xBD");
  EXPECT_EQ(stream.end(), "");
}

TEST_F(TextStreams, bytes_that_never_become_a_character_are_not_held_for_ever) {
  auto const tokenizer = opened(test::byte_level_json());
  TextStream stream(*tokenizer, false);
  Ids const ids(11, 4);
  std::string text;
  for (auto const id : ids) text += stream.add(id);
  EXPECT_GT(text.size(), 0U);
  EXPECT_EQ(text + stream.end(), tokenizer->decode(ids, false));
}

TEST_F(TextStreams, what_stands_before_decides_about_blanks) {
  auto json = test::byte_level_json();
  json["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "Ġ"}};
  json["decoder"] = json["pre_tokenizer"];
  auto const tokenizer = opened(json);
  TextStream alone(*tokenizer, false);
  EXPECT_EQ(alone.add(7), "a");
  TextStream behind(*tokenizer, false);
  behind.follow(Ids{0});
  EXPECT_EQ(behind.add(7), " a");
}

}  // namespace
}  // namespace spillway::text_streams_test
