// Text files become the tokens of a published tokenizer, by several threads, and tokens of
// different tokenizers are not taken for each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "io/h5/h5_file.hpp"
#include "io/tokens/text_tokens.hpp"
#include "io/tokens/token_file.hpp"
#include "io/tokens/token_set.hpp"
#include "io/tokens/used_tokenizer.hpp"
#include "tests/unit/io/tokens_case.hpp"
#include "tokenizer/open_tokenizer.hpp"

namespace spillway::tokenized_texts_test {
namespace {

namespace fs = std::filesystem;

constexpr char const* kTokenizer = R"({
  "added_tokens": [{"id": 6, "content": "<end>", "special": true, "normalized": false}],
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4, "Ċ": 5},
            "merges": ["a b", "Ġ ab"]}})";

class TokenizedTexts : public test::TokensTest {
 protected:
  TokenizedTexts() {
    text_file("tokenizer.json", kTokenizer);
    text_file("tokenizer_config.json", R"({"eos_token": "<end>"})");
    m_tokenizer = open_tokenizer(m_dir);
  }

  std::vector<std::int32_t> ids_of(std::string_view text) const {
    std::vector<std::int32_t> ids;
    m_tokenizer->encoder()->encode(text, ids);
    return ids;
  }

  std::vector<std::int32_t> tokens_in(fs::path const& path) const {
    TokenFile const file(path);
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(file.count()));
    file.read(0, tokens);
    return tokens;
  }

  std::unique_ptr<Tokenizer const> m_tokenizer;
};

TEST_F(TokenizedTexts, threads_and_pieces_change_no_token) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += i % 7 == 0 ? "ab\n ab  ba" : " ab a";
  std::vector<fs::path> const inputs{text_file("1.txt", text), text_file("2.txt", ""),
                                     text_file("3.txt", "ba"), text_file("4.txt", "?!")};
  auto expected = ids_of(text);
  auto const second = std::ssize(expected);
  for (auto const id : ids_of("ba")) expected.push_back(id);
  for (std::size_t const threads : {1, 2, 5}) {
    for (std::size_t const piece_bytes : {1, 7, 1000, 1 << 20}) {
      auto const path = m_dir / "t.h5";
      auto const result = tokenize_texts(inputs, *m_tokenizer, Output(path),
                                         {.threads = threads, .piece_bytes = piece_bytes});
      ASSERT_EQ(tokens_in(path), expected) << threads << " threads, " << piece_bytes << " bytes";
      EXPECT_EQ(result.tokens, std::ssize(expected));
      EXPECT_EQ(result.documents, 2);
      EXPECT_EQ(result.empty_files, 2);  // of the last one no token is left
      EXPECT_EQ(H5File::open(path).read<std::int64_t>("/document_starts", 9),
                (std::vector<std::int64_t>{0, second}));
    }
  }
}

TEST_F(TokenizedTexts, a_file_says_which_tokenizer_made_it) {
  auto const path = m_dir / "t.h5";
  tokenize_texts(std::vector{text_file("1.txt", "ab")}, *m_tokenizer, Output(path),
                 {.separator = true});
  EXPECT_EQ(tokens_in(path), (std::vector<std::int32_t>{3, 6}));
  TokenFile const file(path);
  EXPECT_EQ(file.vocab(), 7);
  EXPECT_EQ(file.layout().tokenizer, m_dir.filename().string());
  EXPECT_EQ(file.layout().tokenizer_checksum, tokenizer_checksum(kTokenizer));
  EXPECT_EQ(H5File::open(path).text("/", "tokenizer_xxh3"), tokenizer_checksum(kTokenizer));
}

TEST_F(TokenizedTexts, what_has_no_token_or_no_end_is_refused) {
  auto const refuse = [&](std::string const& text, bool separator) {
    auto const error = error_of([&] {
      tokenize_texts(std::vector{text_file("1.txt", text)}, *m_tokenizer, Output(m_dir / "t.h5"),
                     {.separator = separator});
    });
    EXPECT_EQ(error.status(), Status::bad_input);
    EXPECT_FALSE(fs::exists(m_dir / "t.h5"));
    return std::string(error.what());
  };
  EXPECT_EQ(refuse("?", false), "tokenize: the tokenizer makes no token of the files given");
  fs::remove(m_dir / "tokenizer_config.json");
  m_tokenizer = open_tokenizer(m_dir);
  EXPECT_EQ(refuse("ab", true),
            "--separator: " + m_dir.filename().string() +
                ": no file beside the tokenizer says which token ends texts (eos_token or "
                "sep_token of tokenizer_config.json)");
}

TEST_F(TokenizedTexts, files_of_different_tokenizers_do_not_go_together) {
  auto const file = [&](std::string const& name, std::string const& tokenizer,
                        std::string const& checksum) {
    TokenWriter writer(Output(m_dir / name), tokenizer, 7, 1, 1, checksum);
    writer.append(std::array{std::int32_t{1}});
    writer.close(std::array{std::int64_t{0}});
    return (m_dir / name).string();
  };
  auto const one = file("1.h5", "one", "1111"), again = file("2.h5", "another name", "1111");
  auto const other = file("3.h5", "other", "2222"), unknown = file("4.h5", "unknown", "");
  auto const bytes = file("5.h5", "byte", "");
  auto const joined = [&](std::vector<std::string> const& files) {
    return std::string(error_of([&] { TokenSet("data.train", files); }).what());
  };
  EXPECT_EQ(joined({one, again, unknown}), "no error");
  EXPECT_EQ(joined({unknown, bytes}), "no error");
  EXPECT_EQ(joined({one, other}),
            "data.train: " + other + " has tokens of 'other' (checksum 2222), " + one +
                " those of 'one' (checksum 1111); make both with one tokenizer (spillway tokenize "
                "--tokenizer)");
  EXPECT_NE(joined({one, bytes}).find(bytes + " has tokens of 'byte', "), std::string::npos);
}

}  // namespace
}  // namespace spillway::tokenized_texts_test
