// Rows of tables of Parquet are the records that the same file as JSONL has. The tables are made by
// tests/goldens/make_tables.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/parquet/parquet.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "io/tokens/text_tokens.hpp"
#include "tests/unit/io/tokens_case.hpp"

namespace spillway::parquet_tables_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path golden(std::string const& name) {
  return fs::path(SPILLWAY_SOURCE_DIR "/tests/goldens") / name;
}

std::string bytes_of(fs::path const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ParquetTables : public test::TokensTest {
 protected:
  void SetUp() override {
    std::string const why = error_of([] { open_parquet(golden("prompts.parquet")); }).what();
    if (why.find("since it was made without carquet") != why.npos) GTEST_SKIP() << why;
  }

  // Returns what is made of a table, or of its records as lines.
  test::TokenContents tokens_of(fs::path const& file, RecordRules const& rules,
                                std::size_t piece_bytes = 1 << 18) {
    TextTokensWork work{.threads = 3, .piece_bytes = piece_bytes, .rules = rules};
    m_result =
        tokenize_texts(std::vector{file}, *byte_tokenizer(true), Output(m_dir / "t.h5"), work);
    return test::contents_of(m_dir / "t.h5");
  }

  TokenizeResult m_result;
};

std::vector<Json> rows_of(fs::path const& path, std::size_t bytes = 1 << 18,
                          std::int64_t kept_bytes = 128 << 20) {
  auto const table = open_parquet(path, kept_bytes);
  std::vector<Json> rows;
  for (auto block = table->next(bytes); !block.records.empty(); block = table->next(bytes))
    for (auto const& [begin, end, line] : block.records) {
      rows.push_back(Json::parse(block.text.substr(begin, end - begin)));
      EXPECT_EQ(line, std::ssize(rows));
    }
  EXPECT_EQ(table->file_bytes(), static_cast<std::int64_t>(fs::file_size(path)));
  return rows;
}

TEST_F(ParquetTables, rows_are_the_records_of_lines) {
  std::ifstream lines(golden("records.jsonl"));
  std::vector<Json> expected;
  for (std::string line; std::getline(lines, line);) expected.push_back(Json::parse(line));
  ASSERT_EQ(expected.size(), 30U);
  for (auto const* const name : {"records.parquet", "records_v2.parquet"})
    for (std::size_t const bytes : {1, 1000, 1 << 20})
      EXPECT_EQ(rows_of(golden(name), bytes), expected) << name << " " << bytes;
}

TEST_F(ParquetTables, are_the_same_however_little_of_them_is_kept) {
  for (std::int64_t const kept_bytes : {0, 10'000, 128 << 20}) {
    auto const rows = rows_of(golden("many.parquet"), 1 << 18, kept_bytes);
    ASSERT_EQ(rows.size(), 4000U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto const number = std::to_string(i);
      Json words = Json::array();
      for (std::size_t k = 0; k < i % 3; ++k) words.push_back(number + "." + std::to_string(k));
      ASSERT_EQ(rows[i], (Json{{"text", "text " + number}, {"words", words}})) << kept_bytes;
    }
  }
}

RecordRules chat_rules() {
  jinja::Template made(
      "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}"
      "{% if add_generation_prompt %}<assistant>{% endif %}",
      "template");
  return {.chat = std::make_shared<ChatTemplate>(std::move(made), Json::object())};
}

TEST_F(ParquetTables, tokens_are_those_of_lines) {
  struct Case {
    char const *name, *table;
    RecordRules rules;
    bool has_answers;
  };
  for (auto const& [name, table, rules, has_answers] :
       {Case{"records", "records", {.text_field = "body"}, false},
        Case{"records", "records_v2", {.text_field = "body"}, false},
        Case{"prompts", "prompts", {}, true}, Case{"chats", "chats", chat_rules(), true}}) {
    auto const expected = tokens_of(golden(std::string(name) + ".jsonl"), rules);
    EXPECT_EQ(m_result.learned.has_value(), has_answers) << name;
    for (std::size_t const piece_bytes : {1, 500, 1 << 18})
      EXPECT_TRUE(tokens_of(golden(std::string(table) + ".parquet"), rules, piece_bytes) ==
                  expected)
          << table;
    EXPECT_GE(m_result.documents, 26) << name;
  }
}

TEST_F(ParquetTables, are_known_without_an_ending_and_go_on_where_they_were_interrupted) {
  fs::copy(golden("prompts.parquet"), m_dir / "blob");
  auto const expected = tokens_of(golden("prompts.jsonl"), {});
  TextTokensWork work{.piece_bytes = 1, .unfinished = m_dir / "unfinished", .keep_every_bytes = 1};
  std::vector const files{m_dir / "blob"};
  int most = 9, told = 0;
  auto const tokenize = [&] {
    told = 0;
    tokenize_texts(files, *byte_tokenizer(true), Output(m_dir / "t.h5"), work, [&](std::int64_t) {
      if (++told > most) throw std::runtime_error("interrupted");
    });
  };
  for (int times = 0; times < 2; ++times) EXPECT_THROW(tokenize(), std::runtime_error);
  most = 1000;
  tokenize();
  EXPECT_LT(told, 20) << "kept tokens are not made again";
  EXPECT_TRUE(test::contents_of(m_dir / "t.h5") == expected);
}

TEST_F(ParquetTables, what_is_no_record_is_refused_with_its_row) {
  auto const refusal = [&](RecordRules const& rules) {
    return std::string(error_of([&] { tokens_of(golden("records.parquet"), rules); }).what());
  };
  auto const path = golden("records.parquet").string();
  EXPECT_EQ(refusal({}), path + ":5: `text` is null, no text");
  EXPECT_EQ(refusal({.text_field = "content"}),
            path +
                ":1: has no field `content`, but `id`, `seen`, `score`, `good`, `body`, `text`, "
                "`turns`, `words`, `made`, `image`, `day`, `cost`, ..");
}

TEST_F(ParquetTables, are_not_read_from_stdin) {
  TextTokensWork const work{.format = TextFormat::parquet};
  auto const read = [&] {
    tokenize_texts(std::vector<fs::path>{"-"}, *byte_tokenizer(true), Output(m_dir / "t.h5"), work);
  };
  EXPECT_STREQ(error_of(read).what(),
               "-: a table of Parquet is not read from stdin: give the file");
}

TEST_F(ParquetTables, that_are_cut_short_or_no_tables_are_refused) {
  auto const whole = bytes_of(golden("records.parquet"));
  for (std::size_t size = 0; size < whole.size(); size += 29) {
    auto const file = text_file("a.parquet", whole.substr(0, size));
    auto const error = error_of([&] { rows_of(file); });
    EXPECT_EQ(error.status(), size < 4 ? Status::bad_input : Status::damaged) << size;
    EXPECT_TRUE(std::string(error.what()).starts_with(file.string() + ": is no ")) << error.what();
  }
}

// Most bytes that are changed are found, by the library or by what columns have in common; others
// change a value. Whatever they do, it is no more than that.
TEST_F(ParquetTables, with_changed_bytes_are_read_or_refused_by_their_name) {
  for (auto const* const name : {"records.parquet", "records_v2.parquet", "chats.parquet"}) {
    auto const whole = bytes_of(golden(name));
    int refused = 0;
    for (std::size_t at = 0; at < whole.size(); at += 7) {
      auto changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (1 << at / 7 % 8));
      auto const file = text_file("a.parquet", changed);
      try {
        auto const table = open_parquet(file);
        while (!table->next(1000).records.empty()) continue;
      } catch (Error const& error) {
        std::string const why = error.what();
        EXPECT_TRUE(why.starts_with(file.string() + ": ")) << why;
        EXPECT_EQ(why.find('\n'), why.npos) << why;
        ++refused;
      }
    }
    EXPECT_GT(refused, std::ssize(whole) / 28) << name;
  }
}

TEST_F(ParquetTables, that_are_damaged_are_refused_with_row_group_and_column) {
  auto bytes = bytes_of(golden("chats.parquet"));
  auto const place = bytes.rfind("\x1f\x8b");  // the last page that gzip has packed
  ASSERT_NE(place, bytes.npos);
  bytes[place] = 0;
  auto const error = error_of([&] { rows_of(text_file("a.parquet", bytes)); });
  EXPECT_EQ(error.status(), Status::damaged);
  EXPECT_TRUE(std::string(error.what())
                  .starts_with((m_dir / "a.parquet").string() +
                               ": row group 2: column messages.list.element.content: cannot be "
                               "read: "))
      << error.what();
}

}  // namespace
}  // namespace spillway::parquet_tables_test
