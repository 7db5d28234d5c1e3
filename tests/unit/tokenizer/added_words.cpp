// Added tokens are found before a text is split.
#include "tests/unit/tokenizer/tokenizer_case.hpp"

namespace spillway::added_words_test {
namespace {

using test::Ids;

class AddedWords : public test::TokenizerTest {
 protected:
  test::Json with(std::vector<test::Json> const& tokens) const {
    auto json = test::byte_level_json();
    for (auto const& token : tokens) json["added_tokens"].push_back(token);
    return json;
  }
};

TEST_F(AddedWords, a_token_in_a_text_is_one_id_and_parts_what_is_around_it) {
  auto const tokenizer = opened(test::byte_level_json());
  EXPECT_EQ(ids_of(*tokenizer, "ab<end>c"), (Ids{5, 8, 2}));
  EXPECT_EQ(ids_of(*tokenizer, "<end><end>"), (Ids{8, 8}));
  EXPECT_EQ(ids_of(*tokenizer, "<end"), Ids{});
}

TEST_F(AddedWords, the_longest_of_several_is_taken) {
  auto const tokenizer =
      opened(with({{{"id", 20}, {"content", "<end><end>"}, {"normalized", false}}}));
  EXPECT_EQ(ids_of(*tokenizer, "<end><end><end>"), (Ids{20, 8}));
}

TEST_F(AddedWords, white_space_goes_with_a_token_that_strips) {
  auto const left =
      opened(with({{{"id", 20}, {"content", "<m>"}, {"lstrip", true}, {"normalized", false}}}));
  EXPECT_EQ(ids_of(*left, "a  <m> a"), (Ids{0, 20, 7}));
  auto const right =
      opened(with({{{"id", 20}, {"content", "<m>"}, {"rstrip", true}, {"normalized", false}}}));
  EXPECT_EQ(ids_of(*right, "a <m>\xE3\x80\x80 a"), (Ids{0, 3, 20, 0}));
}

TEST_F(AddedWords, a_single_word_is_not_found_in_another) {
  auto const tokenizer = opened(with({{{"id", 20}, {"content", "c"}, {"single_word", true}}}));
  EXPECT_EQ(ids_of(*tokenizer, "abc"), (Ids{6}));
  EXPECT_EQ(ids_of(*tokenizer, "ab c"), (Ids{5, 3, 2}));  // in the vocabulary, it has the id there
}

TEST_F(AddedWords, a_normalized_token_is_looked_for_after_normalization) {
  auto json = with({{{"id", 20}, {"content", "YES"}, {"normalized", true}},
                    {{"id", 21}, {"content", "NO"}, {"normalized", false}}});
  json["normalizer"] = {{"type", "Lowercase"}};
  auto const tokenizer = opened(json);
  EXPECT_EQ(ids_of(*tokenizer, "Yesayes"), (Ids{20, 0, 20}));
  EXPECT_EQ(ids_of(*tokenizer, "NOANo"), (Ids{21, 0}));
}

TEST_F(AddedWords, what_stands_around_a_text_and_ends_it_is_told) {
  auto json = test::byte_level_json();
  json["post_processor"] = test::Json::parse(R"({
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<end>", "type_id": 0}}, {"Sequence": {"id": "A"}},
               {"SpecialToken": {"id": "<end>", "type_id": 0}}],
    "special_tokens": {"<end>": {"id": "<end>", "ids": [8], "tokens": ["<end>"]}}})");
  std::ofstream(m_dir / "tokenizer_config.json") << R"({"eos_token": {"content": "<end>"}})";
  auto const facts = opened(json)->facts();
  EXPECT_EQ(facts.before, (Ids{8}));
  EXPECT_EQ(facts.after, (Ids{8}));
  EXPECT_EQ(facts.end, 8);
  EXPECT_EQ(facts.vocab, 10);
  EXPECT_EQ(facts.name, m_dir.filename().string());
}

TEST_F(AddedWords, a_tokenizer_has_the_name_of_its_directory_as_far_as_that_fits_a_line) {
  auto const name_in = [&](std::string const& folder) {
    std::filesystem::create_directories(m_dir / folder);
    std::ofstream(m_dir / folder / kTokenizerFile) << test::byte_level_json();
    return open_tokenizer(m_dir / folder / kTokenizerFile)->facts().name;
  };
  EXPECT_EQ(name_in("Model-1"), "Model-1");
  EXPECT_EQ(name_in("a\nb"), "a_b");
  EXPECT_EQ(name_in(std::string(250, 'x')), std::string(200, 'x'));
}

}  // namespace
}  // namespace spillway::added_words_test
