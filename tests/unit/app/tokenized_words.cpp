// What `generate` prints of a model that has a tokenizer.
#include <utility>

#include "app/generated.hpp"
#include "tests/unit/tokenizer/tokenizer_case.hpp"

namespace spillway::tokenized_words_test {
namespace {

using test::Ids;

class TokenizedWords : public test::TokenizerTest {
 protected:
  // What is shown for each id behind `prompt`, and at the end.
  std::vector<std::string> printed(Recipe const& recipe, Ids const& prompt, Ids const& ids,
                                   std::vector<std::string> const& stops = {}) const {
    std::string now;
    auto const take = [&now](std::string_view text) { now += text; };
    GeneratedTokens shown(PromptForm::text, recipe, take, StopTexts(stops), m_tokenizer.get());
    shown.follow(prompt);
    std::vector<std::string> texts;
    for (auto const& id : ids) {
      shown.add({&id, 1});
      texts.push_back(std::exchange(now, ""));
    }
    shown.end();
    texts.push_back(now);
    return texts;
  }

  Recipe const m_next = {.objective = Objective::next};
  std::unique_ptr<Tokenizer const> const m_tokenizer = opened(test::byte_level_json());
};

TEST_F(TokenizedWords, are_shown_without_the_prompt_and_without_special_tokens) {
  EXPECT_EQ(printed(m_next, {6, 7}, {7, 4, 9, 8, 5}),
            (std::vector<std::string>{" a", "", "\xC3\xA9", "", "ab", ""}));
}

TEST_F(TokenizedWords, end_before_a_stop_text) {
  EXPECT_EQ(printed(m_next, {6}, {0, 7, 5, 0}, {"aab"}),
            (std::vector<std::string>{"", "a ", "", "", ""}));
  EXPECT_EQ(printed(m_next, {6}, {4}, {"b"}), (std::vector<std::string>{"", "\xEF\xBF\xBD"}));
}

TEST_F(TokenizedWords, have_sentinels_but_no_end_where_spans_were_asked) {
  Recipe const spans = {.objective = Objective::spans, .ids = {.pad = 3, .eos = 1}};
  EXPECT_EQ(printed(spans, {}, {3, 8, 5, 1}),
            (std::vector<std::string>{"", "<end>", "ab", "", ""}));
}

TEST_F(TokenizedWords, are_named_where_they_are_likely) {
  std::vector<Likely> const fillings = {{5, 0.5}, {8, 0.25}};
  EXPECT_EQ(fillings_line(1, fillings, PromptForm::text, m_tokenizer.get()),
            "1: 'ab' 0.5000, '<end>' 0.2500");
  EXPECT_EQ(fillings_line(1, fillings, PromptForm::ids, m_tokenizer.get()),
            "1: 5 0.5000, 8 0.2500");
}

}  // namespace
}  // namespace spillway::tokenized_words_test
