// Texts of which some places are known: special tokens do not reach over barriers, and it is
// counted how many ids stand before borders.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/tokenizer/tokenizer_case.hpp"

namespace spillway::marked_texts_test {
namespace {

using test::byte_level_json;
using test::Ids;
using Places = std::vector<std::size_t>;

class MarkedTexts : public test::TokenizerTest {
 protected:
  struct Made {
    Ids ids;
    Places counts;
  };
  static Made encoded(Tokenizer const& tokenizer, std::string_view text, Places const& barriers,
                      Places const& borders) {
    Made made;
    tokenizer.encoder()->encode({text, barriers, borders}, made.ids, made.counts);
    return made;
  }
};

TEST_F(MarkedTexts, have_no_special_token_over_a_barrier) {
  auto const tokenizer = opened(byte_level_json());
  EXPECT_EQ(encoded(*tokenizer, "a<end>b<end>", {}, {}).ids, (Ids{0, 8, 1, 8}));
  EXPECT_EQ(encoded(*tokenizer, "a<end>b<end>", {2}, {}).ids, (Ids{0, 1, 8}));
  EXPECT_EQ(encoded(*tokenizer, "a<end>b<end>", {1, 6}, {}).ids, (Ids{0, 8, 1, 8}));
  EXPECT_EQ(tokenizer->special_tokens(), (std::vector<std::string>{"<end>"}));
}

TEST_F(MarkedTexts, count_the_ids_before_borders) {
  auto const tokenizer = opened(byte_level_json());
  // The ids of "abc abc<end>a" are abc, a blank, abc, <end>, a.
  auto const made = encoded(*tokenizer, "abc abc<end>a", {}, {0, 3, 4, 6, 7, 8, 12, 13});
  EXPECT_EQ(made.ids, (Ids{6, 3, 6, 8, 0}));
  EXPECT_EQ(made.counts, (Places{0, 1, 2, 2, 3, 3, 4, 5}));
  // One id reaches over the border: it stands behind.
  EXPECT_EQ(encoded(*tokenizer, "ab", {}, {1}).counts, Places{0});
}

TEST_F(MarkedTexts, with_a_special_token_that_is_looked_for_in_changed_text_are_refused) {
  auto json = byte_level_json();
  json["added_tokens"][0]["normalized"] = true;
  json["normalizer"] = {{"type", "Lowercase"}};
  auto const tokenizer = opened(json);
  EXPECT_EQ(encoded(*tokenizer, "A<END>b", {}, {}).ids, (Ids{0, 8, 1}));
  auto const why = error_of([&] { encoded(*tokenizer, "A<END>b", {2}, {}); });
  EXPECT_NE(std::string(why.what()).find("looks for only in normalized text"), std::string::npos);
}

}  // namespace
}  // namespace spillway::marked_texts_test
