// Records of JSON, packed or not, become documents.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "io/tokens/token_file.hpp"
#include "tests/unit/io/tokens_case.hpp"

namespace spillway::tokenized_records_test {
namespace {

namespace fs = std::filesystem;

class TokenizedRecords : public test::TokensTest {
 protected:
  // Returns the bytes of all documents, each with | behind it.
  std::string documents(std::vector<fs::path> const& files, TextTokensWork work = {}) {
    work.separator = true;
    m_result = tokenize_texts(files, *byte_tokenizer(true), Output(m_dir / "t.h5"), work);
    TokenFile const made(m_dir / "t.h5");
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(made.count()));
    made.read(0, tokens);
    std::string text;
    for (auto const token : tokens)
      text += token == byte_separator ? '|' : static_cast<char>(token);
    return text;
  }
  std::string refusal(std::string const& name, std::string const& text, TextTokensWork work = {}) {
    auto const file = text_file(name, text);
    auto const error = error_of([&] { documents({file}, work); });
    EXPECT_FALSE(fs::exists(m_dir / "t.h5"));
    std::string const why = error.what();
    EXPECT_TRUE(why.starts_with(m_dir.string() + "/")) << why;
    return why.substr(m_dir.string().size() + 1);
  }

  TokenizeResult m_result;
};

TEST_F(TokenizedRecords, lines_and_lists_are_documents) {
  auto const lines = text_file("a.jsonl",
                               "\xef\xbb\xbf{\"id\": 1, \"text\": \"a\\u00e9\\n\"}\r\n\n"
                               "{\"text\": \"\"}\n{\"text\": \"x\", \"text\": \"b\"}\n\"c\"");
  auto const list =
      text_file("b.json", "[{\"text\": \"d\", \"more\": [{\"text\": 1}]}, \"e\\ud83d\\ude00\"]");
  auto const text = text_file("c.txt", "{\"text\": 1}");
  EXPECT_EQ(documents({lines, list, text}), "a\xc3\xa9\n|b|c|d|e\xf0\x9f\x98\x80|{\"text\": 1}|");
  EXPECT_EQ(m_result.documents, 6);
  EXPECT_EQ(m_result.empty_records, 1);
  EXPECT_EQ(m_result.empty_files, 0);
}

TEST_F(TokenizedRecords, threads_and_pieces_change_nothing) {
  std::string lines, expected;
  for (int i = 0; i < 3000; ++i) {
    auto const text =
        "text " + std::to_string(i) + std::string(static_cast<std::size_t>(i % 50), 'x');
    lines += "{\"text\": \"" + text + "\", \"other\": 1e3}\n";
    expected += text + "|";
  }
  auto const file = text_file("a.jsonl", lines);
  for (std::size_t const threads : {1, 3})
    for (std::size_t const piece_bytes : {1, 1000, 1 << 20})
      EXPECT_EQ(documents({file}, {.threads = threads, .piece_bytes = piece_bytes}), expected);
}

TEST_F(TokenizedRecords, bytes_that_are_no_utf8_and_long_lines_are_read) {
  auto const file = text_file(
      "a.jsonl", "{\"text\": \"a\xff\"}\n{\"text\": \"" + std::string(1 << 20, 'y') + "\"}");
  EXPECT_EQ(documents({file}), "a\xef\xbf\xbd|" + std::string(1 << 20, 'y') + "|");
}

TEST_F(TokenizedRecords, a_format_and_a_field_may_be_given) {
  auto const file = text_file("a.data", "{\"body\": \"a\"}\n");
  TextTokensWork work;
  EXPECT_EQ(documents({file}), "{\"body\": \"a\"}\n|");
  work.format = TextFormat::jsonl;
  work.rules.text_field = "body";
  EXPECT_EQ(documents({file}, work), "a|");
}

TEST_F(TokenizedRecords, what_is_no_record_is_refused_with_file_and_line) {
  EXPECT_EQ(refusal("a.jsonl", "{\"text\": \"a\"}\n\n{\"body\": 1, \"id\": 2}\n"),
            "a.jsonl:3: has no field `text`, but `body`, `id`");
  EXPECT_EQ(refusal("a.jsonl", "{}"), "a.jsonl:1: has no field `text`, but no field at all");
  EXPECT_EQ(refusal("a.jsonl", "{\"text\": null}"), "a.jsonl:1: `text` is null, no text");
  EXPECT_EQ(refusal("a.jsonl", "{\"text\": [\"a\"]}"), "a.jsonl:1: `text` is array, no text");
  EXPECT_EQ(refusal("a.jsonl", "[1]"), "a.jsonl:1: is array, neither an object nor a text");
  EXPECT_TRUE(refusal("a.jsonl", "{\"text\": \"a\"").starts_with("a.jsonl:1: is no JSON: "));
  EXPECT_TRUE(
      refusal("a.jsonl", "\n{\"text\": \"\\ud800\"}").starts_with("a.jsonl:2: is no JSON: "));
  EXPECT_TRUE(refusal("a.json", "[{\"text\": 1e999}]").starts_with("a.json:1: is no JSON: "));
  EXPECT_TRUE(refusal("a.json", "[\n" + std::string(100'000, '[') + "]").starts_with("a.json:"));
}

// Two members, one behind the other: {"text": "ab ab"}\n and {"text": "ba"}.
std::string const kGzip(
    "\037\213\010\000\000\000\000\000\002\003\253\126\052\111\255\050\121\262\122\120"
    "\112\114\122\110\114\122\252\345\002\000\112\057\017\336\022\000\000\000\037\213"
    "\010\000\000\000\000\000\002\003\253\126\052\111\255\050\121\262\122\120\112\112"
    "\124\252\005\000\316\353\001\263\016\000\000\000",
    72);
std::string const kZstd(
    "\050\265\057\375\004\130\221\000\000\173\042\164\145\170\164\042\072\040\042\141"
    "\142\040\141\142\042\175\012\037\031\317\163\050\265\057\375\004\130\161\000\000"
    "\173\042\164\145\170\164\042\072\040\042\142\141\042\175\015\045\327\117",
    58);

class Packed : public TokenizedRecords, public ::testing::WithParamInterface<bool> {
 protected:
  std::string bytes() const { return GetParam() ? kGzip : kZstd; }
  std::string name() const { return GetParam() ? "a.jsonl.gz" : "a.jsonl.zst"; }
  void skip_without_library() {
    auto const file = text_file(name(), bytes());
    std::string const why = error_of([&] { documents({file}); }).what();
    if (why.find("since it was made without") != why.npos) GTEST_SKIP() << why;
  }
};

TEST_P(Packed, files_are_what_they_hold) {
  skip_without_library();
  EXPECT_EQ(documents({text_file(name(), bytes())}), "ab ab|ba|");
  TextTokensWork work;
  work.format = TextFormat::jsonl;  // by their first bytes without an ending, too
  EXPECT_EQ(documents({text_file("a", bytes())}, work), "ab ab|ba|");
}

TEST_P(Packed, files_that_are_cut_or_changed_are_damaged) {
  skip_without_library();
  fs::remove(m_dir / "t.h5");
  for (std::size_t size = 5; size < bytes().size(); ++size) {
    auto const error = error_of([&] { documents({text_file(name(), bytes().substr(0, size))}); });
    // What ends with the first member, or frame, is whole.
    if (std::string(error.what()) == "no error") continue;
    EXPECT_EQ(error.status(), Status::damaged) << size << ": " << error.what();
  }
  fs::remove(m_dir / "t.h5");
  auto changed = bytes();
  changed[changed.size() - 3] ^= 1;
  EXPECT_NE(refusal(name(), changed).find("cannot be unpacked: "), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Each, Packed, ::testing::Bool(),
                         [](auto const& info) { return info.param ? "gzip" : "zstd"; });

}  // namespace
}  // namespace spillway::tokenized_records_test
