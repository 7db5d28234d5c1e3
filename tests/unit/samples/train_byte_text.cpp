// Prompts as tokens, and tokens as text.
#include <gtest/gtest.h>

#include <utility>

#include "base/error.hpp"
#include "samples/byte_text.hpp"

namespace spillway::train_byte_text_test {
namespace {

using Tokens = std::vector<std::int32_t>;

Recipe of(Objective objective, SpecialIds const& ids) {
  return {.objective = objective, .words = 257, .ids = ids};
}
Recipe const kNext = of(Objective::next, {.eos = 256});
Recipe const kMasked = of(Objective::masked, {.mask = 257, .eos = 256});
Recipe const kSpans =
    of(Objective::spans, {.pad = 257, .eos = 256, .first_sentinel = 357, .sentinels = 100});

TEST(ByteText, bytes_are_tokens) {
  EXPECT_EQ(tokens_of("a\xc3\xa9", kNext), (Tokens{97, 0xc3, 0xa9}));
  EXPECT_EQ(tokens_of("[MASK]", kNext).size(), 6u);
  EXPECT_EQ(text_of(97, kNext), "a");
  EXPECT_EQ(text_of(0xc3, kNext), "\xc3");
  EXPECT_EQ(text_of(256, kNext), "");
}

TEST(ByteText, a_mask_stands_for_a_token) {
  EXPECT_EQ(tokens_of("a[MASK][MASK]b", kMasked), (Tokens{97, 257, 257, 98}));
  EXPECT_EQ(tokens_of("[MASK", kMasked).size(), 5u);
}

TEST(ByteText, an_encoders_text_has_sentinels_and_ends) {
  EXPECT_EQ(tokens_of("a<extra_id_0>b<extra_id_12>", kSpans), (Tokens{97, 357, 98, 345, 256}));
  EXPECT_EQ(tokens_of("<extra_id_>", kSpans).size(), 12u);
  EXPECT_EQ(tokens_of("<extra_id_1", kSpans).size(), 12u);
  EXPECT_EQ(tokens_of("<extra_id_-1>", kSpans).size(), 14u);
  auto without_end = kSpans;
  without_end.ids.eos = -1;
  EXPECT_EQ(tokens_of("a", without_end), Tokens{97});
}

TEST(ByteText, a_sentinel_that_there_is_not_is_refused) {
  EXPECT_EQ(tokens_of("<extra_id_99>", kSpans).front(), 258);
  for (auto const* const text : {"<extra_id_100>", "<extra_id_101>", "<extra_id_300>"})
    EXPECT_THROW(tokens_of(text, kSpans), Error) << text;
  try {
    tokens_of("a<extra_id_100>", kSpans);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    EXPECT_STREQ(error.what(),
                 "--prompt: the model has no sentinel for <extra_id_100>; its first is id 357, and "
                 "they count down");
  }
}

TEST(ByteText, sentinels_are_words_again) {
  EXPECT_EQ(text_of(357, kSpans), "<extra_id_0>");
  EXPECT_EQ(text_of(258, kSpans), "<extra_id_99>");
  for (std::int32_t const token : {256, 257, 358}) EXPECT_EQ(text_of(token, kSpans), "") << token;
  auto few = kSpans;
  few.ids.sentinels = 99;
  EXPECT_EQ(text_of(258, few), "");
}

// Ids that a model has of its own may lie among its sentinels, and these among bytes.
TEST(ByteText, ids_of_another_meaning_are_no_sentinels) {
  auto mixed = kSpans;
  mixed.ids.pad = 300, mixed.ids.eos = 310;
  for (auto const& [token, word] : {std::pair(299, "<extra_id_58>"), std::pair(300, ""),
                                    std::pair(301, "<extra_id_56>"), std::pair(310, "")})
    EXPECT_EQ(text_of(token, mixed), word) << token;
  EXPECT_EQ(tokens_of("<extra_id_56><extra_id_58>", mixed), (Tokens{301, 299, 310}));
  EXPECT_THROW(tokens_of("<extra_id_57>", mixed), Error);
  EXPECT_THROW(tokens_of("<extra_id_47>", mixed), Error);
  auto low = kSpans;
  low.ids = {.pad = 290, .eos = -1, .first_sentinel = 257, .sentinels = 100};
  EXPECT_EQ(text_of(256, low), "<extra_id_1>");
  EXPECT_EQ(text_of(255, low), "\xff");
  EXPECT_EQ(tokens_of("<extra_id_1>", low), Tokens{256});
  EXPECT_THROW(tokens_of("<extra_id_2>", low), Error);
}

}  // namespace
}  // namespace spillway::train_byte_text_test
