// Tokens that are only seen are predicted with weight 0, wherever they lie.
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "io/tokens/token_set.hpp"
#include "samples/data.hpp"
#include "samples/sequence_buffer.hpp"
#include "samples/sequence_reader.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/samples/token_texts.hpp"

namespace spillway::learned_tokens_test {
namespace {

constexpr std::int64_t kSequence = 8;

class LearnedTokens : public test::TokenTexts {
 protected:
  // A file of 400 tokens of which every third is learned, or none.
  std::string masked(std::string const& name, bool any = true,
                     std::vector<std::int64_t> const& starts = {0, 5, 9}) const {
    std::vector<std::int32_t> tokens;
    std::vector<std::uint8_t> mask;
    for (int i = 0; i < 400; ++i) {
      tokens.push_back(i % 100);
      mask.push_back(any && i % 3 == 0 ? 1 : 0);
    }
    auto const file = path(name + ".h5");
    TokenWriter writer(Output(file), "none", 100, 400, std::ssize(starts), "", true);
    writer.append(tokens);
    writer.append_mask(mask);
    writer.close(starts);
    return file;
  }

  Config config_of(std::vector<std::string> const& train, Family family = Family::gpt) const {
    Config config;
    config.model.family = family;
    config.data.train = train;
    config.data.sequence = kSequence;
    return config;
  }

  std::vector<float> weights(Data const& data, std::int64_t window) const {
    SequenceReader reader(data.train.tokens, data.train.windows, data.recipe);
    SequenceBuffer buffer(data.recipe.lengths);
    reader.read(reader.window(window), 0, 1, 0, buffer.fields());
    auto const made = buffer.fields().get<BatchField::weights>();
    return {made.begin(), made.end()};
  }
};

TEST_F(LearnedTokens, have_the_weight_where_they_are_predicted) {
  auto config = config_of({masked("a")});
  auto const data = open_data(config);
  // Rows 0 to 7 predict tokens 1 to 8, and 9 to 16.
  EXPECT_EQ(weights(data, 0), (std::vector<float>{0, 0, 1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(weights(data, 1), (std::vector<float>{1, 0, 0, 1, 0, 0, 1, 0}));
  config.data.pack = true;  // token 9 begins a document
  EXPECT_EQ(weights(open_data(config), 1), (std::vector<float>{0, 0, 0, 1, 0, 0, 1, 0}));
}

TEST_F(LearnedTokens, are_left_out_where_what_is_only_seen_is_asked_for) {
  auto data = open_data(config_of({masked("a"), write("b", 400, 100)}));
  data.recipe.learns_seen = true;
  EXPECT_EQ(weights(data, 0), (std::vector<float>{1, 1, 0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(weights(data, 50), (std::vector<float>(8, 0)));
}

TEST_F(LearnedTokens, are_all_of_a_file_that_does_not_say_which) {
  auto const data = open_data(config_of({masked("a"), write("b", 400, 100)}));
  EXPECT_EQ(weights(data, 49), (std::vector<float>{1, 0, 0, 1, 0, 0, 1, 1}));
  EXPECT_EQ(weights(data, 50), (std::vector<float>(8, 1)));
}

TEST_F(LearnedTokens, must_be_somewhere_and_are_for_next_tokens_alone) {
  auto const none = masked("none", false), some = masked("some");
  auto const refusal = [&](Config const& config) {
    return test::refused_with([&] { open_data(config); });
  };
  EXPECT_EQ(refusal(config_of({none})),
            "data.train: " + none +
                ": no token of any sequence is learned (/loss_mask): nothing is left to predict");
  EXPECT_EQ(refusal(config_of({some}, Family::bert)),
            "data.train: " + some +
                ": says which tokens are learned (/loss_mask), which only models that predict the "
                "next token go by; make it with `spillway tokenize --learn all`");
  std::vector<std::int64_t> all(400);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  auto config = config_of({masked("single", true, all)});
  config.data.pack = true;
  EXPECT_NE(refusal(config).find("no token of any sequence is learned"), std::string::npos);
}

}  // namespace
}  // namespace spillway::learned_tokens_test
