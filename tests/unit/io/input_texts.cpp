// Which files a command is given, what they are, and where the records of files of JSON lie.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/texts/byte_source.hpp"
#include "io/texts/input_kind.hpp"
#include "io/texts/input_list.hpp"
#include "io/texts/record_blocks.hpp"
#include "tests/support/in_directory.hpp"

namespace spillway::input_texts_test {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

class InputTexts : public test::InDirectory {
 protected:
  std::string file(std::string const& name, std::string const& text = "a") const {
    fs::create_directories((m_dir / name).parent_path());
    std::ofstream(m_dir / name, std::ios::binary) << text;
    return (m_dir / name).string();
  }
  std::string refusal(Strings const& given, std::string const& list = "") const {
    return error_of([&] { list_inputs(given, list); }).what();
  }
};

TEST_F(InputTexts, a_directory_gives_its_files_of_known_endings_sorted) {
  for (auto const* name : {"d/b.txt", "d/a/z.jsonl.gz", "d/a/y.JSON", "d/c.ndjson.zst", "d/x.pdf",
                           "d/.hidden.txt", "d/.git/a.txt", "d/notes"})
    file(name);
  fs::create_directory_symlink(m_dir / "d", m_dir / "d/circle");
  auto const one = file("one.anything");
  auto const found = list_inputs(Strings{one, (m_dir / "d").string()}, "");
  std::vector<fs::path> const expected{one, m_dir / "d/a/y.JSON", m_dir / "d/a/z.jsonl.gz",
                                       m_dir / "d/b.txt", m_dir / "d/c.ndjson.zst"};
  EXPECT_EQ(found.files, expected);
  EXPECT_EQ(found.left_out, 3);
  EXPECT_EQ(found.one_left_out, m_dir / "d/circle");
}

TEST_F(InputTexts, a_list_names_files_on_its_lines) {
  auto const one = file("one.txt"), two = file("two words.txt");
  auto const list = file("list", one + "\r\n\n" + two);
  auto const found = list_inputs(Strings{two}, list);
  EXPECT_EQ(found.files, (std::vector<fs::path>{two, one, two}));
}

TEST_F(InputTexts, a_directory_without_texts_and_stdin_named_twice_are_refused) {
  file("d/a.pdf");
  EXPECT_EQ(
      refusal({(m_dir / "d").string()}),
      (m_dir / "d").string() +
          ": has no file that ends with .txt, .jsonl, .ndjson, .json, also with .gz or .zst, or "
          "with .parquet");
  EXPECT_EQ(refusal({"-", "-"}), "-: stdin can be read only once");
}

TEST_F(InputTexts, endings_and_first_bytes_say_what_a_file_is) {
  auto const kind = kind_by_name("a/b.jsonl.GZ");
  ASSERT_TRUE(kind);
  EXPECT_EQ(kind->format, TextFormat::jsonl);
  EXPECT_EQ(kind->packing, Packing::gzip);
  EXPECT_FALSE(kind_by_name("a.jsonl/b.h"));
  EXPECT_EQ(kind_by_name("a.zst")->format, TextFormat::text);
  EXPECT_EQ(packing_of("\x28\xb5\x2f\xfd"), Packing::zstd);
  EXPECT_EQ(packing_of("\x1f"), Packing::none);
  auto const table = file("table", "PAR1....");
  EXPECT_NE(std::string(error_of([&] { open_bytes(table); }).what()).find("a table of Parquet"),
            std::string::npos);
  EXPECT_EQ(kind_by_name("a/b.parquet")->format, TextFormat::parquet);
  auto const other = file("other.txt.gz", "text");
  EXPECT_EQ(error_of([&] { open_bytes(other); }).what(),
            other + ": is not what its name says: it does not begin as gzip does");
}

class Bytes final : public ByteSource {
 public:
  explicit Bytes(std::string text) : m_text(std::move(text)) {}
  std::size_t read(std::span<std::byte> to) override {
    auto const size = std::min(to.size(), m_text.size() - m_at);
    std::memcpy(to.data(), m_text.data() + m_at, size);
    m_at += size;
    return size;
  }
  std::int64_t file_bytes() const override { return static_cast<std::int64_t>(m_at); }

 private:
  std::string m_text;
  std::size_t m_at = 0;
};

// Returns "line:record" for each record, read `bytes` at a time.
Strings records_of(std::string const& text, TextFormat format, std::size_t bytes) {
  RecordBlocks blocks(std::make_unique<Bytes>(text), format, "f");
  Strings found;
  for (auto block = blocks.next(bytes); !block.records.empty(); block = blocks.next(bytes))
    for (auto const& [begin, end, line] : block.records)
      found.push_back(std::to_string(line) + ":" + block.text.substr(begin, end - begin));
  return found;
}

TEST(RecordBlocksTest, are_the_same_however_few_bytes_come_at_a_time) {
  std::string const lines = "\xef\xbb\xbf{\"a\": 1}\r\n\n  \n{\"b\": \"\xff\"}\n\"t\"";
  std::string const list =
      " \n[{\"a\": \"]}\\\"[\", \"b\": [1, {}]},\n\n\"t\\\\\",1,[[]] , null\n, {}]\n ";
  for (std::size_t const bytes : {3, 4, 7, 100}) {
    EXPECT_EQ(records_of(lines, TextFormat::jsonl, bytes),
              (Strings{"1:{\"a\": 1}\r", "4:{\"b\": \"\xff\"}", "5:\"t\""}));
    EXPECT_EQ(records_of(list, TextFormat::json, bytes),
              (Strings{"2:{\"a\": \"]}\\\"[\", \"b\": [1, {}]}", "4:\"t\\\\\"", "4:1", "4:[[]]",
                       "4:null", "5:{}"}));
    EXPECT_EQ(records_of("{\"a\":\n1}\n", TextFormat::json, bytes), (Strings{"1:{\"a\":", "2:1}"}));
  }
  EXPECT_EQ(records_of("", TextFormat::json, 10), Strings{});
  EXPECT_EQ(records_of("[]", TextFormat::json, 10), Strings{});
}

TEST(RecordBlocksTest, a_list_that_does_not_go_on_is_refused_with_its_line) {
  auto const refusal = [](std::string const& text) {
    try {
      records_of(text, TextFormat::json, 100);
    } catch (Error const& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(refusal("\n1"), "f:2: is no list of records, which begins with [");
  EXPECT_EQ(refusal("[1\n 2]"), "f:2: a comma or ] is missing");
  EXPECT_EQ(refusal("[{}\n"), "f:2: the list has no end");
  EXPECT_EQ(refusal("[{\"a\": \"]"), "f:1: the list has no end");
  EXPECT_EQ(refusal("[1]\n\n[2]"), "f:3: something stands behind the list");
}

}  // namespace
}  // namespace spillway::input_texts_test
