// What is said of token files that cannot be used, word for word.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/error.hpp"
#include "samples/data.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/samples/token_texts.hpp"

namespace spillway::data_refusals_test {
namespace {

using Lines = std::vector<std::string>;

class DataRefusals : public test::TokenTexts {
 protected:
  Config config_of(Family family, std::vector<std::string> const& train) const {
    Config config;
    config.model.family = family;
    config.data.train = train;
    config.data.sequence = 64;
    return config;
  }

  static std::string refusal(Config const& config) {
    return test::refused_with([&] { open_data(config); });
  }
};

TEST_F(DataRefusals, name_the_file_and_the_vocabulary) {
  auto const file = write("a", 400, 300);
  auto config = config_of(Family::gpt, {file});
  EXPECT_EQ(open_data(config).vocab, 300);
  config.model.vocab = 200;
  auto const line = "data.train: " + file + ": its vocabulary of 300 is larger than model.vocab = ";
  EXPECT_EQ(refusal(config), line + "200");
  config = config_of(Family::bert, {file});
  EXPECT_EQ(open_data(config).vocab, 301);
  config.model.vocab = 300;
  EXPECT_EQ(refusal(config), line + "300, of which 1 are special tokens");
  config.data.mask_id = 7;
  EXPECT_EQ(refusal(config), "");
  config = config_of(Family::t5, {file});
  EXPECT_EQ(open_data(config).vocab, 401);
  config.model.vocab = 400;
  EXPECT_EQ(refusal(config), line + "400, of which 101 are special tokens");
}

TEST_F(DataRefusals, name_what_fills_no_sequence) {
  auto const file = write("a", 400, 300), small = write("short", 64, 300);
  EXPECT_EQ(refusal(config_of(Family::gpt, {})), "data.train: no token file is named");
  auto const line = ": " + small + ": 64 tokens do not fill one sequence of 64 and its successor";
  EXPECT_EQ(refusal(config_of(Family::gpt, {small})), "data.train" + line);
  auto config = config_of(Family::gpt, {file});
  config.data.valid = {small};
  EXPECT_EQ(refusal(config), "data.valid" + line);
  config.data.sequence = 63;
  EXPECT_EQ(refusal(config), "");
  config = config_of(Family::t5, {file});
  config.data.pack = true;
  config.data.sequence = 3, config.data.target_length = 3;
  EXPECT_EQ(refusal(config),
            "data.sequence: with data.pack and spans a sequence must hold three tokens; give a "
            "larger data.sequence and data.target");
  config.data.sequence = 4;  // which hold three
  EXPECT_EQ(refusal(config), "");
}

TEST_F(DataRefusals, name_what_has_no_documents_or_nothing_to_predict) {
  auto const plain = path("plain.bin");
  std::vector<std::int32_t> head(256);
  head[0] = 20240520, head[1] = 1, head[2] = 100;
  std::vector<std::uint16_t> const tokens(100);
  std::ofstream file(plain, std::ios::binary);
  file.write(reinterpret_cast<char const*>(head.data()), std::ssize(head) * 4);
  file.write(reinterpret_cast<char const*>(tokens.data()), std::ssize(tokens) * 2);
  file.close();
  auto config = config_of(Family::gpt, {plain});
  EXPECT_EQ(refusal(config), "");
  config.data.pack = true;
  EXPECT_EQ(refusal(config),
            "data.train: " + plain +
                ": data.pack: this llm.c file does not say where documents begin; those that "
                "`spillway tokenize` writes do");

  config.data.train = {write("documents", 400, 50257), plain};
  EXPECT_TRUE(refusal(config).starts_with("data.train: " + plain + ": data.pack: this llm.c file"))
      << refusal(config);
  config.data.pack = false;
  EXPECT_EQ(refusal(config), "");
  config.data.pack = true;

  std::vector<std::int64_t> ones(100);
  std::iota(ones.begin(), ones.end(), 0);
  config.data.train = {write("ones", 100, 300, ones)};
  EXPECT_EQ(refusal(config),
            "data.train: " + config.data.train[0] +
                ": data.pack keeps documents apart, and none has two tokens in one sequence: "
                "nothing is left to predict");
  auto spans = config_of(Family::t5, config.data.train);
  spans.data.pack = true;
  EXPECT_EQ(refusal(spans), refusal(config));
}

TEST_F(DataRefusals, are_not_of_files_that_are_left_out_or_come_twice) {
  auto const a = write("a", 400, 300), b = write("b", 410, 300), v = write("v", 420, 300);
  auto config = config_of(Family::gpt, {a, b, a, v});
  EXPECT_EQ(open_data(config).said, Lines{"data.train: " + a + " comes twice"});
  config.data.valid = {v, v};
  auto const data = open_data(config);
  EXPECT_EQ(data.said, (Lines{"data.train: " + a + " comes twice",
                              "data.train: " + v + " is data.valid's and is not trained on",
                              "data.valid: " + v + " comes twice"}));
  EXPECT_EQ(data.train.tokens.count(), 400 + 410 + 400);
  EXPECT_EQ(data.valid->tokens.count(), 840);
  EXPECT_EQ(data.samples.ranges[0].files.size(), 3u);
  config.data.train = {v};
  EXPECT_EQ(refusal(config),
            "data.train: " + v +
                " is data.valid's too, and nothing else is left to train on; name other files, or "
                "data.valid=none");
}

}  // namespace
}  // namespace spillway::data_refusals_test
