// What `generate` prints, as it comes.
#include <gtest/gtest.h>

#include <utility>

#include "app/generated.hpp"

namespace spillway::generated_texts_test {
namespace {

using Tokens = std::vector<std::int32_t>;

class GeneratedTexts : public ::testing::Test {
 protected:
  // What is shown for each of these, and at the end.
  static std::vector<std::string> printed(PromptForm form, std::vector<Tokens> const& all,
                                          std::vector<std::string> const& stops = {}) {
    Recipe recipe;
    recipe.objective = Objective::next;
    std::vector<std::string> texts;
    std::string now;
    auto const take = [&now](std::string_view text) { now += text; };
    GeneratedTokens shown(form, recipe, take, StopTexts(stops));
    for (auto const& tokens : all) {
      shown.add(tokens);
      texts.push_back(std::exchange(now, ""));
    }
    shown.end();
    texts.push_back(now);
    return texts;
  }
};

TEST_F(GeneratedTexts, are_ids_where_ids_were_asked) {
  EXPECT_EQ(printed(PromptForm::ids, {{104, 7}, {}, {300}}),
            (std::vector<std::string>{"104 7", "", " 300", ""}));
}

// 0xc3 0xa9 is one letter, and so are the three bytes at the end but for the last, which is
// missing.
TEST_F(GeneratedTexts, are_whole_characters_of_text) {
  EXPECT_EQ(printed(PromptForm::text, {{'a', 0xc3}, {0xa9, 'b'}, {300}, {0xe2, 0x82}}),
            (std::vector<std::string>{"a",
                                      "\xc3\xa9"
                                      "b",
                                      "", "", "\xe2\x82"}));
}

TEST_F(GeneratedTexts, end_before_a_stop_text_and_hold_back_what_may_become_one) {
  EXPECT_EQ(
      printed(PromptForm::text, {{'a', 'E'}, {'N'}, {'b', 'E', 'N'}, {'D', 'c'}, {'d'}}, {"END"}),
      (std::vector<std::string>{"a", "", "ENb", "", "", ""}));
  EXPECT_EQ(printed(PromptForm::text, {{'a', 'E', 'N'}}, {"END"}),
            (std::vector<std::string>{"a", "EN"}));
}

TEST_F(GeneratedTexts, name_what_is_likeliest_at_a_place) {
  std::vector<Likely> const fillings = {{'e', 0.41234}, {0x20, 0.25}, {0x1f, 0.125}, {0x7e, 0.0625},
                                        {0x7f, 0.03},   {0xff, 0.02}, {0x100, 0.01}};
  EXPECT_EQ(fillings_line(2, fillings, PromptForm::text),
            "2: 'e' 0.4123, ' ' 0.2500, '\\x1f' 0.1250, '~' 0.0625, '\\x7f' 0.0300, "
            "'\\xff' 0.0200, 256 0.0100");
  EXPECT_EQ(fillings_line(10, std::span(fillings).first(2), PromptForm::ids),
            "10: 101 0.4123, 32 0.2500");
  EXPECT_EQ(fillings_line(1, {}, PromptForm::ids), "1:");
}

}  // namespace
}  // namespace spillway::generated_texts_test
